import { type Effects } from './effect.js';
const PORT_PROBLEM = 'must be between 0 and 65535';

/** Where the service listens. */
export const listening: Effects = {
  HOST: {
    refused: [],
  },
  PORT: {
    refused: [
      ['x', `PORT: must be a whole number`],
      ['-1', 'PORT: must be a whole number'],
      ['65536', `PORT: ${PORT_PROBLEM}`],
    ],
  },
};
