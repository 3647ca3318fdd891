import Foundation
import Report
import Security

/// Policies, and what a certificate is judged to be worth.
func trust() async throws {
    policies()
    let der = Data(base64Encoded: certificateOfKey, options: .ignoreUnknownCharacters) ?? Data()
    guard let certificate = SecCertificateCreateWithData(nil, der as CFData) else { stop("it does not parse") }
    var made: SecTrust?
    let policy = SecPolicyCreateBasicX509()
    tell("Trust is asked for", SecTrustCreateWithCertificates(certificate, policy, &made) == errSecSuccess)
    guard let trust = made else { stop("there is nothing to judge") }
    tell("It is of its type", CFGetTypeID(trust) == SecTrustGetTypeID())
    tell("It is described: \(trust)", trust.description.contains("outside"))
    settings(trust, certificate)
    results(trust, certificate)
    exceptions(trust)
    await queues(trust)
    let former: any FormerCalls = FormerTrust(trust: trust)
    try former.check()
}

private func policies() {
    let ssl: SecPolicy = SecPolicyCreateSSL(true, "host.example" as CFString)
    let properties = SecPolicyCopyProperties(ssl) as? [CFString: Any] ?? [:]
    tell("A policy has an identifier", properties[kSecPolicyOid] as? String == kSecPolicyAppleSSL as String)
    tell("And a host", properties[kSecPolicyName] as? String == "host.example")
    let client = SecPolicyCopyProperties(SecPolicyCreateSSL(false, nil)) as? [CFString: Any] ?? [:]
    tell("Or it is for clients", client[kSecPolicyClient] as? Bool == true)
    let same = SecPolicyCreateWithProperties(kSecPolicyAppleSSL, properties as CFDictionary)
    tell("It is made of them again", ssl.isEqual(same) && ssl.hash == same?.hash)
    tell("It is of its type", CFGetTypeID(ssl) == SecPolicyGetTypeID() && !ssl.description.isEmpty)
    let flags =
        kSecRevocationOCSPMethod | kSecRevocationCRLMethod | kSecRevocationPreferCRL
        | kSecRevocationNetworkAccessDisabled
    let revocation = SecPolicyCreateRevocation(flags).flatMap { SecPolicyCopyProperties($0) } as? [CFString: Any]
    tell("Revocation has flags", revocation?[kSecPolicyRevocationFlags] as? UInt == flags)
    tell("Which may be all", SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod) != nil)
    let demand = SecPolicyCreateRevocation(kSecRevocationRequirePositiveResponse)
    tell("Or a demand", demand != nil && demand != SecPolicyCreateRevocation(kSecRevocationOCSPMethod))
    let others = [
        kSecPolicyAppleSMIME, kSecPolicyAppleEAP, kSecPolicyAppleIPsec, kSecPolicyAppleCodeSigning,
        kSecPolicyAppleTimeStamping,
    ]
    tell("Other policies are not there", others.allSatisfy { SecPolicyCreateWithProperties($0, nil) == nil })
    let known = [kSecPolicyAppleX509Basic, kSecPolicyAppleRevocation]
    tell("They are told apart", Set((known + others).map { $0 as String }).count == 7)
}

private func settings(_ trust: SecTrust, _ certificate: SecCertificate) {
    tell("Anchors are set", SecTrustSetAnchorCertificates(trust, [certificate] as CFArray) == errSecSuccess)
    tell("They alone count", SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess)
    var anchors: CFArray?
    tell("They are given", SecTrustCopyCustomAnchorCertificates(trust, &anchors) == errSecSuccess)
    tell("As they were", anchors as? [SecCertificate] == [certificate])
    let policy = SecPolicyCreateBasicX509()
    tell("Policies are set", SecTrustSetPolicies(trust, policy) == errSecSuccess)
    var policies: CFArray?
    tell("And given", SecTrustCopyPolicies(trust, &policies) == errSecSuccess && policies as? [SecPolicy] == [policy])
    let date = Date()
    tell("A date is set", SecTrustSetVerifyDate(trust, date as CFDate) == errSecSuccess)
    tell("And given", SecTrustGetVerifyTime(trust) == date.timeIntervalSinceReferenceDate)
    tell("The network is left alone", SecTrustSetNetworkFetchAllowed(trust, false) == errSecSuccess)
    var allows: DarwinBoolean = true
    tell("Which is told", SecTrustGetNetworkFetchAllowed(trust, &allows) == errSecSuccess && !allows.boolValue)
    let same = DarwinBoolean(allows.boolValue)
    tell("A Boolean is one", same == allows && same.hashValue == allows.hashValue && same != true)
    tell("Answers are taken", SecTrustSetOCSPResponse(trust, Data() as CFData) == errSecSuccess)
    tell("Proofs are taken", SecTrustSetSignedCertificateTimestamps(trust, nil) == errSecSuccess)
}

private func results(_ trust: SecTrust, _ certificate: SecCertificate) {
    var error: CFError?
    tell("It is trusted", SecTrustEvaluateWithError(trust, &error) && error == nil)
    var result = SecTrustResultType.invalid
    tell("The result is given", SecTrustGetTrustResult(trust, &result) == errSecSuccess && result == .unspecified)
    tell("The chain is one", SecTrustGetCertificateCount(trust) == 1)
    tell("Of the certificate", SecTrustCopyCertificateChain(trust) as? [SecCertificate] == [certificate])
    tell("The key is its", SecTrustCopyKey(trust) == SecCertificateCopyKey(certificate))
    let all = SecTrustCopyResult(trust) as? [CFString: Any] ?? [:]
    tell("A date is in it", all[kSecTrustEvaluationDate] is Date)
    tell("And the result", all[kSecTrustResultValue] as? UInt32 == SecTrustResultType.unspecified.rawValue)
    let missing = [
        kSecTrustExtendedValidation, kSecTrustOrganizationName, kSecTrustRevocationChecked,
        kSecTrustRevocationValidUntilDate, kSecTrustCertificateTransparency,
    ]
    tell("And nothing else", missing.allSatisfy { all[$0] == nil } && Set(missing).count == 5)
    let texts = SecTrustCopyProperties(trust) as? [[CFString: String]] ?? []
    tell("Texts name it", texts.first?[kSecPropertyTypeTitle] == "outside")
    tell("Nothing is wrong", texts.first?[kSecPropertyTypeError] == nil)
}

private func exceptions(_ trust: SecTrust) {
    tell("No anchor, no trust", SecTrustSetAnchorCertificates(trust, [] as CFArray) == errSecSuccess)
    var error: CFError?
    tell("Which is an error", !SecTrustEvaluateWithError(trust, &error) && error?.code == Int(errSecNotTrusted))
    let exceptions = SecTrustCopyExceptions(trust)
    tell("It is excused", SecTrustSetExceptions(trust, exceptions) && SecTrustEvaluateWithError(trust, nil))
    var result = SecTrustResultType.invalid
    tell("As a person wants", SecTrustGetTrustResult(trust, &result) == errSecSuccess && result == .proceed)
    tell("Until it is not", !SecTrustSetExceptions(trust, nil))
    let failures: [SecTrustResultType] = [.deny, .recoverableTrustFailure, .fatalTrustFailure, .otherError]
    tell("Results are told apart", Set(failures).count == 4)
    tell("By their numbers", SecTrustResultType(rawValue: 6) == .fatalTrustFailure)
}

private func queues(_ trust: SecTrust) async {
    let queue = DispatchQueue(label: "trust")
    let isTrusted = await withCheckedContinuation { continuation in
        queue.async {
            let status = SecTrustEvaluateAsyncWithError(trust, queue) { _, isTrusted, _ in
                continuation.resume(returning: isTrusted)
            }
            tell("A queue is asked", status == errSecSuccess)
        }
    }
    tell("It answers", !isTrusted)
}

/// Functions that Apple has given other names since.
private struct FormerTrust: FormerCalls {
    let trust: SecTrust

    @available(*, deprecated)
    func check() throws {
        var result = SecTrustResultType.invalid
        tell("The former evaluation", SecTrustEvaluate(trust, &result) == errSecSuccess)
        tell("It says so", result == .recoverableTrustFailure && result != .confirm)
        tell("The former key", SecTrustCopyPublicKey(trust) == SecTrustCopyKey(trust))
        tell("The former chain", SecTrustGetCertificateAtIndex(trust, 0) != nil)
        tell("Which ends", SecTrustGetCertificateAtIndex(trust, 1) == nil)
        let told = DispatchSemaphore(value: 0)
        let status = SecTrustEvaluateAsync(trust, nil) { _, _ in told.signal() }
        tell("The former queue", status == errSecSuccess)
        told.wait()
    }
}
