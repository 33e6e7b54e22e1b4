import { describe } from 'vitest';
import { testProgram } from './program-tests.js';
import { SDK_AGENTS } from './programs.js';

describe.each(SDK_AGENTS)('$name', testProgram);
