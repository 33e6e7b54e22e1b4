import { type Effect } from './effect.js';
import { factsOf } from './upstream-members.js';
const TEXT = 'expected string to have >=1 characters';
const COUNT = 'expected number to be >=1';

/** Members of a model, and of a tier: callers see what they change. */
export const catalogMembers: Readonly<Record<string, Effect>> = {
  plugins: {
    refused: [['x', 'Invalid input: expected record']],
  },
  'models[].id': {
    refused: [
      ['best', 'must have the form <vendor>/<model_name>'],
      [undefined, 'expected string'],
    ],
  },
  'models[].name': {
    refused: [
      ['', TEXT],
      [undefined, 'expected string'],
    ],
  },
  'models[].provider': {
    refused: [
      ['', TEXT],
      [undefined, 'expected string'],
    ],
  },
  'models[].context_length': {
    refused: [
      [0, COUNT],
      [undefined, 'expected number'],
    ],
  },
  'models[].max_output_tokens': {
    refused: [[0, COUNT]],
  },
  'models[].aliases': {
    refused: [['gpt-4o', 'expected array']],
  },
  'models[].capabilities': {
    refused: [['tools', 'expected array']],
  },
  'models[].thinking': {
    refused: [['deeply', 'expected one of "budget"|"adaptive"|"levels"|"switch"']],
  },
  ...factsOf('models[]'),
  'models[].sticky': {
    refused: [['account', 'expected boolean']],
  },
  'tiers.<name>.requests_per_minute': {
    refused: [[0, COUNT]],
  },
  'tiers.<name>.concurrent_streams': {
    refused: [['2', 'expected number']],
  },
  'tiers.<name>.max_tokens': {
    refused: [[-1, COUNT]],
  },
  'tiers.<name>.plugins': {
    refused: [['x', 'Invalid input: expected record']],
  },
  'tiers.<name>.tokens_per_minute': {
    refused: [[0, COUNT]],
  },
  'tiers.<name>.tokens_per_day': {
    refused: [[0, COUNT]],
  },
  'tiers.<name>.budget.amount': {
    refused: [
      [0, '>=0.000001'],
      ['5', 'expected number'],
    ],
  },
  'tiers.<name>.budget.per': {
    refused: [['year', 'month']],
  },
  'tiers.<name>.budget.currency': {
    refused: [['EUR', 'must be USD, the currency of the prices']],
  },
  default_tier: {
    refused: [
      ['nobody', 'is not one of the tiers'],
      [undefined, 'expected string'],
    ],
  },
  currency: {
    refused: [['Euro', 'must be a currency code of three letters, such as USD']],
  },
};
