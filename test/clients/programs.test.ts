import { describe } from 'vitest';
import { testProgram } from './program-tests.js';
import { PROGRAMS } from './programs.js';

describe.each(PROGRAMS)('$name', testProgram);
