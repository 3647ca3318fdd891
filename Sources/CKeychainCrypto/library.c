#include "CKeychainCrypto.h"

#include <CCryptoBoringSSL.h>

// Each line is one of the files BoringSSL*.swift in Sources/KeychainCrypto and Sources/KeychainKeys: the function's type, or
// the most that a structure may take. A release of the library that changes one of them is refused here, and not found out
// at run time.
#define IS(function, ...) _Static_assert(__builtin_types_compatible_p(__typeof__(&function), __VA_ARGS__), #function)
#define FITS(type, count) _Static_assert(sizeof(type) <= (count) && _Alignof(type) <= 16, #type)

FITS(EVP_AEAD_CTX, 640);
FITS(AES_KEY, 256);
// The state fits into 14 words of 8 bytes.
_Static_assert(sizeof(SHA256_CTX) <= 112 && _Alignof(SHA256_CTX) <= 8, "SHA256_CTX");

IS(EVP_aead_aes_256_gcm, const EVP_AEAD *(*)(void));
IS(EVP_AEAD_CTX_init, int (*)(EVP_AEAD_CTX *, const EVP_AEAD *, const uint8_t *, size_t, size_t, ENGINE *));
IS(EVP_AEAD_CTX_cleanup, void (*)(EVP_AEAD_CTX *));
IS(EVP_AEAD_CTX_seal, int (*)(const EVP_AEAD_CTX *, uint8_t *, size_t *, size_t, const uint8_t *, size_t, const uint8_t *,
                              size_t, const uint8_t *, size_t));
IS(EVP_AEAD_CTX_open, int (*)(const EVP_AEAD_CTX *, uint8_t *, size_t *, size_t, const uint8_t *, size_t, const uint8_t *,
                              size_t, const uint8_t *, size_t));
IS(EVP_AEAD_CTX_seal_scatter,
   int (*)(const EVP_AEAD_CTX *, uint8_t *, uint8_t *, size_t *, size_t, const uint8_t *, size_t, const uint8_t *, size_t,
           const uint8_t *, size_t, const uint8_t *, size_t));
IS(EVP_AEAD_CTX_open_gather,
   int (*)(const EVP_AEAD_CTX *, uint8_t *, const uint8_t *, size_t, const uint8_t *, size_t, const uint8_t *, size_t,
           const uint8_t *, size_t));
IS(AES_set_encrypt_key, int (*)(const uint8_t *, unsigned, AES_KEY *));
IS(AES_set_decrypt_key, int (*)(const uint8_t *, unsigned, AES_KEY *));
IS(AES_wrap_key, int (*)(const AES_KEY *, const uint8_t *, uint8_t *, const uint8_t *, size_t));
IS(AES_unwrap_key, int (*)(const AES_KEY *, const uint8_t *, uint8_t *, const uint8_t *, size_t));
IS(SHA256_Init, int (*)(SHA256_CTX *));
IS(SHA256_Update, int (*)(SHA256_CTX *, const void *, size_t));
IS(SHA256_Final, int (*)(uint8_t *, SHA256_CTX *));
IS(X25519, int (*)(uint8_t *, const uint8_t *, const uint8_t *));
IS(X25519_public_from_private, void (*)(uint8_t *, const uint8_t *));
IS(EVP_PBE_scrypt, int (*)(const char *, size_t, const uint8_t *, size_t, uint64_t, uint64_t, uint64_t, size_t, uint8_t *,
                           size_t));

FITS(CBS, 16);
_Static_assert(NID_sha1 == 64 && NID_sha224 == 675 && NID_sha256 == 672 && NID_sha384 == 673 && NID_sha512 == 674, "NID");
_Static_assert(NID_X9_62_prime256v1 == 415 && NID_secp384r1 == 715 && NID_secp521r1 == 716, "NID");
_Static_assert(RSA_PKCS1_PADDING == 1 && RSA_NO_PADDING == 3 && RSA_PKCS1_OAEP_PADDING == 4, "padding");
_Static_assert(RSA_PSS_SALTLEN_DIGEST == -1 && POINT_CONVERSION_UNCOMPRESSED == 4, "numbers");
_Static_assert(sizeof(point_conversion_form_t) == sizeof(int), "point_conversion_form_t");

// The NIST curves.
IS(EC_KEY_new_by_curve_name, EC_KEY *(*)(int));
IS(EC_KEY_free, void (*)(EC_KEY *));
IS(EC_KEY_generate_key, int (*)(EC_KEY *));
IS(EC_KEY_check_key, int (*)(const EC_KEY *));
IS(EC_KEY_get0_public_key, const EC_POINT *(*)(const EC_KEY *));
IS(EC_KEY_oct2key, int (*)(EC_KEY *, const uint8_t *, size_t, BN_CTX *));
IS(EC_KEY_oct2priv, int (*)(EC_KEY *, const uint8_t *, size_t));
IS(EC_KEY_priv2oct, size_t (*)(const EC_KEY *, uint8_t *, size_t));
IS(EC_KEY_get0_group, const EC_GROUP *(*)(const EC_KEY *));
IS(EC_POINT_point2oct, size_t (*)(const EC_GROUP *, const EC_POINT *, point_conversion_form_t, uint8_t *, size_t, BN_CTX *));
IS(ECDSA_sign_p1363, int (*)(const uint8_t *, size_t, uint8_t *, size_t *, size_t, const EC_KEY *));
IS(ECDSA_verify_p1363, int (*)(const uint8_t *, size_t, const uint8_t *, size_t, const EC_KEY *));
IS(ECDH_compute_key,
   int (*)(void *, size_t, const EC_POINT *, const EC_KEY *, void *(*)(const void *, size_t, void *, size_t *)));
IS(EC_KEY_parse_private_key, EC_KEY *(*)(CBS *, const EC_GROUP *));
IS(OPENSSL_free, void (*)(void *));
IS(ERR_clear_error, void (*)(void));

// RSA, digests and Ed25519.
IS(EVP_sha1, const EVP_MD *(*)(void));
IS(EVP_sha224, const EVP_MD *(*)(void));
IS(EVP_sha256, const EVP_MD *(*)(void));
IS(EVP_sha384, const EVP_MD *(*)(void));
IS(EVP_sha512, const EVP_MD *(*)(void));
IS(EVP_Digest, int (*)(const void *, size_t, uint8_t *, unsigned *, const EVP_MD *, ENGINE *));
IS(RSA_new, RSA *(*)(void));
IS(RSA_free, void (*)(RSA *));
IS(RSA_bits, unsigned (*)(const RSA *));
IS(RSA_size, unsigned (*)(const RSA *));
IS(RSA_generate_key_ex, int (*)(RSA *, int, const BIGNUM *, BN_GENCB *));
IS(RSA_public_key_from_bytes, RSA *(*)(const uint8_t *, size_t));
IS(RSA_private_key_from_bytes, RSA *(*)(const uint8_t *, size_t));
IS(RSA_public_key_to_bytes, int (*)(uint8_t **, size_t *, const RSA *));
IS(RSA_private_key_to_bytes, int (*)(uint8_t **, size_t *, const RSA *));
IS(RSA_encrypt, int (*)(RSA *, size_t *, uint8_t *, size_t, const uint8_t *, size_t, int));
IS(RSA_decrypt, int (*)(RSA *, size_t *, uint8_t *, size_t, const uint8_t *, size_t, int));
IS(RSA_sign_raw, int (*)(RSA *, size_t *, uint8_t *, size_t, const uint8_t *, size_t, int));
IS(RSA_verify_raw, int (*)(RSA *, size_t *, uint8_t *, size_t, const uint8_t *, size_t, int));
IS(RSA_sign, int (*)(int, const uint8_t *, size_t, uint8_t *, unsigned *, RSA *));
IS(RSA_verify, int (*)(int, const uint8_t *, size_t, const uint8_t *, size_t, RSA *));
IS(RSA_sign_pss_mgf1,
   int (*)(RSA *, size_t *, uint8_t *, size_t, const uint8_t *, size_t, const EVP_MD *, const EVP_MD *, int));
IS(RSA_verify_pss_mgf1, int (*)(RSA *, const uint8_t *, size_t, const EVP_MD *, const EVP_MD *, int, const uint8_t *,
                                size_t));
IS(RSA_get0_d, const BIGNUM *(*)(const RSA *));
IS(BN_new, BIGNUM *(*)(void));
IS(BN_free, void (*)(BIGNUM *));
IS(BN_set_u64, int (*)(BIGNUM *, uint64_t));
IS(BN_bn2bin_padded, int (*)(uint8_t *, size_t, const BIGNUM *));
IS(EVP_PKEY_new, EVP_PKEY *(*)(void));
IS(EVP_PKEY_free, void (*)(EVP_PKEY *));
IS(EVP_PKEY_set1_RSA, int (*)(EVP_PKEY *, RSA *));
IS(EVP_PKEY_get1_RSA, RSA *(*)(const EVP_PKEY *));
IS(EVP_parse_public_key, EVP_PKEY *(*)(CBS *));
IS(EVP_PKEY_CTX_new, EVP_PKEY_CTX *(*)(EVP_PKEY *, ENGINE *));
IS(EVP_PKEY_CTX_free, void (*)(EVP_PKEY_CTX *));
IS(EVP_PKEY_CTX_set_rsa_padding, int (*)(EVP_PKEY_CTX *, int));
IS(EVP_PKEY_CTX_set_rsa_oaep_md, int (*)(EVP_PKEY_CTX *, const EVP_MD *));
IS(EVP_PKEY_CTX_set_rsa_mgf1_md, int (*)(EVP_PKEY_CTX *, const EVP_MD *));
IS(EVP_PKEY_encrypt_init, int (*)(EVP_PKEY_CTX *));
IS(EVP_PKEY_encrypt, int (*)(EVP_PKEY_CTX *, uint8_t *, size_t *, const uint8_t *, size_t));
IS(EVP_PKEY_decrypt_init, int (*)(EVP_PKEY_CTX *));
IS(EVP_PKEY_decrypt, int (*)(EVP_PKEY_CTX *, uint8_t *, size_t *, const uint8_t *, size_t));
IS(ED25519_verify, int (*)(const uint8_t *, size_t, const uint8_t *, const uint8_t *));

// Keys in files.
IS(PKCS5_PBKDF2_HMAC, int (*)(const char *, size_t, const uint8_t *, size_t, uint32_t, const EVP_MD *, size_t, uint8_t *));
IS(HMAC, uint8_t *(*)(const EVP_MD *, const void *, size_t, const uint8_t *, size_t, uint8_t *, unsigned *));
IS(EVP_aes_128_cbc, const EVP_CIPHER *(*)(void));
IS(EVP_aes_192_cbc, const EVP_CIPHER *(*)(void));
IS(EVP_aes_256_cbc, const EVP_CIPHER *(*)(void));
IS(EVP_des_ede3_cbc, const EVP_CIPHER *(*)(void));
IS(EVP_des_ede_cbc, const EVP_CIPHER *(*)(void));
IS(EVP_rc2_cbc, const EVP_CIPHER *(*)(void));
IS(EVP_rc2_40_cbc, const EVP_CIPHER *(*)(void));
IS(EVP_rc4, const EVP_CIPHER *(*)(void));
IS(EVP_CIPHER_CTX_new, EVP_CIPHER_CTX *(*)(void));
IS(EVP_CIPHER_CTX_free, void (*)(EVP_CIPHER_CTX *));
IS(EVP_CIPHER_CTX_set_key_length, int (*)(EVP_CIPHER_CTX *, unsigned));
IS(EVP_CipherInit_ex, int (*)(EVP_CIPHER_CTX *, const EVP_CIPHER *, ENGINE *, const uint8_t *, const uint8_t *, int));
IS(EVP_CipherUpdate, int (*)(EVP_CIPHER_CTX *, uint8_t *, int *, const uint8_t *, int));
IS(EVP_CipherFinal_ex, int (*)(EVP_CIPHER_CTX *, uint8_t *, int *));
IS(BN_bin2bn, BIGNUM *(*)(const uint8_t *, size_t, BIGNUM *));
IS(BN_bn2bin, size_t (*)(const BIGNUM *, uint8_t *));
IS(BN_num_bytes, unsigned (*)(const BIGNUM *));
IS(BN_sub_word, int (*)(BIGNUM *, uint64_t));
IS(BN_div, int (*)(BIGNUM *, BIGNUM *, const BIGNUM *, const BIGNUM *, BN_CTX *));
IS(BN_CTX_new, BN_CTX *(*)(void));
IS(BN_CTX_free, void (*)(BN_CTX *));
