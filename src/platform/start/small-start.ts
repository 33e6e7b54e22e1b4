import { setFlagsFromString } from 'node:v8';

// Keeps the memory for young objects small while the program starts: it must be imported before all else. The start creates many
// objects that live, so V8 would enlarge that memory to its maximum of 32 MB or more, and would not return it. `endStart` lets it
// grow again.
setFlagsFromString('--semi-space-growth-factor=1');
