import { type Effects } from './effect.js';
const NEVER = 'must be whsec_ and 24 to 64 random bytes in Base64';

/** The members of a webhook: a receiver gets a signed event, or none. */
export const webhookMembers: Effects = {
  'webhooks.<name>.url': {
    refused: [
      ['ftp://portal', 'must be a URL https://… or http://… without a password'],
      ['https://user:secret@portal', 'must be a URL https://… or http://… without a password'],
      ['https://${PORTAL_HOST}', 'the variable PORTAL_HOST is unset'],
      [undefined, 'expected string'],
    ],
  },
  'webhooks.<name>.secret': {
    refused: [
      ['secret', NEVER],
      ['whsec_c2hvcnQ=', NEVER],
      ['${PORTAL_SECRET}', 'the variable PORTAL_SECRET is unset'],
      [undefined, 'expected string'],
    ],
  },
  'webhooks.<name>.events': {
    refused: [
      ['key.leaked', 'expected array'],
      [[], '>=1 items'],
    ],
  },
  'webhooks.<name>.allowed_networks': {
    refused: [[['127.0.0.0/40'], 'must contain only IP addresses and CIDR ranges']],
  },
};
