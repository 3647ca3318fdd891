import Testing

@Suite struct FaultTests {}
