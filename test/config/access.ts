import { BUILT_IN_PLUGINS } from '../../src/platform/config/config.js';
import { notWithin, type Effects } from './effect.js';
const OPEN_OR_CLOSED = 'must be open or closed';

/** Who may do what, and how much of it at once. */
export const access: Effects = {
  TRUST_PROXY: {
    refused: notWithin('TRUST_PROXY', 0, 100, 'true'),
  },
  SIGN_UP: {
    refused: [
      ['yes', `SIGN_UP: ${OPEN_OR_CLOSED}`],
      ['OPEN', `SIGN_UP: ${OPEN_OR_CLOSED}`],
    ],
  },
  PLUGINS: {
    refused: [['durable,pages', `PLUGINS: must be all, none, or a list of ${BUILT_IN_PLUGINS.join(', ')}`]],
  },
  COMPATIBLE_APIS: {
    refused: [['completions', 'COMPATIBLE_APIS: must be none, or a list of chat-completions, responses, messages']],
  },
  CORS_ORIGINS: {
    refused: [['tools.example.com', 'CORS_ORIGINS: must be a list of origins such as https://tools.example.com']],
  },
  API_DOCS: {
    refused: [['none', `API_DOCS: ${OPEN_OR_CLOSED}`]],
  },
  MAX_STREAMS: {
    refused: notWithin('MAX_STREAMS', 1, 1_000_000, 'many'),
  },
};
