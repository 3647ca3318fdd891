// Memory that is erased when it is given back (erasing_allocator.c). Linking this target is all there is to do.
#ifndef CERASINGALLOCATOR_H
#define CERASINGALLOCATOR_H

#endif
