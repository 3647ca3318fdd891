#include "CKeychainTestSupport.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int ckeychain_test_send_descriptors(int socket, const void *bytes, size_t count, int descriptor, int copies) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    int descriptors[64];
    char control[CMSG_SPACE(sizeof descriptors)] __attribute__((aligned(8)));
    memset(control, 0, sizeof control);
    if (copies > 64) {
        return EINVAL;
    }
    for (int index = 0; index < copies; index++) {
        descriptors[index] = descriptor;
    }
    size_t size = sizeof(int) * (size_t)copies;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(size)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), descriptors, size);
    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? errno : 0;
}
