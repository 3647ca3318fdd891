public import FoundationEssentials

extension KeychainError: LocalizedError {
    /// The languages of the texts for a person. The raw values are the codes of ISO 639: English `en`, Japanese `ja`,
    /// Korean `ko`.
    public enum Language: String, Sendable, CaseIterable { case english = "en", japanese = "ja", korean = "ko" }

    /// The text of `localizedDescription`: the meaning of the status in the user's language, and the message in
    /// parentheses.
    ///
    /// The language is that of the process's environment when it first asks: `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and
    /// `LANG`, by the rules of gettext.
    public var errorDescription: String? { "\(meaning(in: .current)) (\(message))" }

    /// The message, in English.
    public var failureReason: String? { message }

    /// The remedy, in the language of the process's environment. It is one sentence for a person.
    public var recoverySuggestion: String? { advice(in: .current) }

    /// The meaning of the status, for a program with a language of its own.
    ///
    /// ```swift
    /// let title = error.meaning(in: .japanese)
    /// ```
    ///
    /// - Parameter language: The language of the text.
    /// - Returns: One sentence. It is general for a status that has no text of its own.
    public func meaning(in language: Language) -> String { explanation.meaning[language] }

    /// The remedy for the status, for a program with a language of its own.
    ///
    /// - Parameter language: The language of the text.
    /// - Returns: One sentence. It is general for a status that has no text of its own.
    public func advice(in language: Language) -> String { explanation.advice[language] }
}

extension KeychainError.Language {
    /// The language of the process's environment.
    ///
    /// The first of these variables that is set decides: LANGUAGE, LC_ALL, LC_MESSAGES, LANG (gettext's rules). English
    /// is used if it names no language of ours.
    static let current = KeychainError.Language(ProcessInfo.processInfo.environment)

    package init(_ environment: [String: String]) {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        // Without a locale there is no language to prefer.
        let isNone = locale == "C" || locale.hasPrefix("C.") || locale == "POSIX"
        let preferred = isNone ? [] : (environment["LANGUAGE"] ?? "").split(separator: ":").map(String.init)
        let known = (preferred + [locale]).lazy.compactMap {
            Self(rawValue: String($0.prefix { $0 != "_" && $0 != "." }))
        }
        self = known.first ?? .english
    }
}

private struct Translated {
    let english: String
    let japanese: String
    let korean: String

    init(_ english: String, ja japanese: String, ko korean: String) {
        (self.english, self.japanese, self.korean) = (english, japanese, korean)
    }

    subscript(language: KeychainError.Language) -> String {
        switch language {
        case .english: english
        case .japanese: japanese
        case .korean: korean
        }
    }
}

extension KeychainError {
    private var explanation: (meaning: Translated, advice: Translated) {
        switch code {
        case .interactionNotAllowed:
            (
                Translated(
                    "The keychain is locked, or it would have to ask you and may not.",
                    ja: "キーチェーンがロックされているか、確認を求めることができません。",
                    ko: "키체인이 잠겨 있거나 사용자에게 확인을 요청할 수 없습니다."),
                Translated(
                    "Unlock the keychain and try again.", ja: "キーチェーンのロックを解除してから、もう一度お試しください。",
                    ko: "키체인의 잠금을 해제한 후 다시 시도하십시오.")
            )
        case .itemNotFound:
            (
                Translated("The item was not found.", ja: "項目が見つかりません。", ko: "항목을 찾을 수 없습니다."),
                Translated(
                    "Check the name of the item and the access group.", ja: "項目の名前とアクセスグループを確認してください。",
                    ko: "항목의 이름과 접근 그룹을 확인하십시오.")
            )
        case .duplicateItem:
            (
                Translated("The item exists already.", ja: "項目はすでに存在します。", ko: "항목이 이미 존재합니다."),
                Translated(
                    "Update the item instead of adding it.", ja: "追加ではなく更新してください。",
                    ko: "추가하는 대신 항목을 업데이트하십시오.")
            )
        case .missingEntitlement:
            (
                Translated(
                    "The program does not hold the access group.", ja: "このプログラムはアクセスグループを使用できません。",
                    ko: "이 프로그램은 해당 접근 그룹을 사용할 수 없습니다."),
                Translated(
                    "Add the access group to the program's entitlements.",
                    ja: "プログラムのエンタイトルメントにアクセスグループを追加してください。",
                    ko: "프로그램의 인타이틀먼트에 접근 그룹을 추가하십시오.")
            )
        case .userCancelled:
            (
                Translated("The authentication was cancelled.", ja: "認証はキャンセルされました。", ko: "인증이 취소되었습니다."),
                Translated("Try again when you are ready.", ja: "準備ができたらもう一度お試しください。", ko: "준비가 되면 다시 시도하십시오.")
            )
        case .taskCancelled:
            (
                Translated(
                    "The program cancelled the call.", ja: "プログラムが呼び出しをキャンセルしました。", ko: "프로그램이 호출을 취소했습니다."),
                Translated("Try again.", ja: "もう一度お試しください。", ko: "다시 시도하십시오.")
            )
        case .authenticationFailed:
            (
                Translated("The authentication failed.", ja: "認証に失敗しました。", ko: "인증에 실패했습니다."),
                Translated(
                    "Check the passcode, or the finger that is enrolled.", ja: "パスコードまたは登録済みの指を確認してください。",
                    ko: "암호 또는 등록된 손가락을 확인하십시오.")
            )
        case .noPasscode:
            (
                Translated("No passcode is set.", ja: "パスコードが設定されていません。", ko: "암호가 설정되지 않았습니다."),
                Translated(
                    "Set one with 'keychainctl passcode set'.", ja: "「keychainctl passcode set」で設定してください。",
                    ko: "'keychainctl passcode set'으로 설정하십시오.")
            )
        case .notAvailable, .noSuchKeychain:
            (
                Translated("The keychain is not available.", ja: "キーチェーンを利用できません。", ko: "키체인을 사용할 수 없습니다."),
                Translated(
                    "Ask 'keychainctl doctor' for the reason.", ja: "「keychainctl doctor」で原因を確認してください。",
                    ko: "'keychainctl doctor'로 원인을 확인하십시오.")
            )
        case .diskFull:
            (
                Translated("The disk is full.", ja: "ディスクの空き容量がありません。", ko: "디스크가 가득 찼습니다."),
                Translated("Make room and try again.", ja: "空き容量を増やしてから、もう一度お試しください。", ko: "공간을 확보한 후 다시 시도하십시오.")
            )
        case .inputOutput, .readOnly:
            (
                Translated(
                    "The keychain's files cannot be read or written.", ja: "キーチェーンのファイルを読み書きできません。",
                    ko: "키체인 파일을 읽거나 쓸 수 없습니다."),
                Translated(
                    "Check the disk and the permissions of the keychain's directory.",
                    ja: "ディスクと、キーチェーンのディレクトリの権限を確認してください。",
                    ko: "디스크와 키체인 디렉터리의 권한을 확인하십시오.")
            )
        case .decode:
            (
                Translated(
                    "What is stored cannot be read as what was asked for.", ja: "保存されている内容を、求められた形式で読み取れません。",
                    ko: "저장된 내용을 요청한 형식으로 읽을 수 없습니다."),
                Translated(
                    "Read it as the type that it was stored as.", ja: "保存したときの型で読み取ってください。",
                    ko: "저장할 때의 유형으로 읽으십시오.")
            )
        case .dataTooLarge:
            (
                Translated("The data is too large.", ja: "データが大きすぎます。", ko: "데이터가 너무 큽니다."),
                Translated(
                    "Keep large data in a protected file.", ja: "大きなデータは保護されたファイルに保存してください。",
                    ko: "큰 데이터는 보호된 파일에 저장하십시오.")
            )
        case .parameter, .noSuchAttribute, .noSuchClass, .unimplemented:
            (
                Translated("The request is not valid.", ja: "要求が正しくありません。", ko: "요청이 올바르지 않습니다."),
                Translated(
                    "The message in parentheses says what to change.", ja: "括弧内のメッセージで、直すところを確認してください。",
                    ko: "괄호 안의 메시지에서 고칠 내용을 확인하십시오.")
            )
        default:
            (
                Translated("The keychain failed.", ja: "キーチェーンでエラーが発生しました。", ko: "키체인에서 오류가 발생했습니다."),
                Translated(
                    "Ask 'keychainctl doctor' for the reason.", ja: "「keychainctl doctor」で原因を確認してください。",
                    ko: "'keychainctl doctor'로 원인을 확인하십시오.")
            )
        }
    }
}
