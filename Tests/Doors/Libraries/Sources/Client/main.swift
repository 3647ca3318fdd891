import Library
import Security

print(Library.status == errSecSuccess)
