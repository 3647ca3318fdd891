// Uses keys as programs for Apple's platforms do, on the keychain that the environment names.

import Report

await report {
    try deviceKey()
    try checkTokenOfServer()
    try makeToken()
    try encryptWithRSA()
    try encryptToDevice()
    try keepKeys()
    try clientCertificate()
    try signingRequest()
    try judgeServers()
}
