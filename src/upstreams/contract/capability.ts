export type { Capability } from '../../config/capability.js';
