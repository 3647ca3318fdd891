// Nothing to call: library.c is compiled only if the cipher library is what KeychainCrypto declares of it.
#ifndef CKEYCHAINCRYPTO_H
#define CKEYCHAINCRYPTO_H
#endif
