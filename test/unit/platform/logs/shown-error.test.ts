import { describe, expect, it } from 'vitest';
import { shownError } from '../../../../src/platform/logs/service-logger.js';

const errorWith = (message: string, members: object = {}) => Object.assign(new Error(message), members);

describe('an error in the log', () => {
  it('has its type, message, code and stack, and no other member', () => {
    const error = errorWith('failed', { code: '23505', detail: 'Key (email)=(ada@example.com) exists.', query: 'x' });
    expect(shownError(error)).toEqual({ type: 'Error', message: 'failed', code: '23505', stack: error.stack });
    expect(shownError(errorWith('failed', { code: 7 }))).not.toHaveProperty('code');
  });

  it('has its causes without their stacks, at most three of them, also where an error is its own cause', () => {
    const cause = errorWith('lost', { code: 'ECONNRESET', query: 'SELECT secret' });
    expect(shownError(new Error('failed', { cause })).cause).toEqual({
      type: 'Error',
      message: 'lost',
      code: 'ECONNRESET',
    });
    const circular = errorWith('again');
    circular.cause = circular;
    expect(JSON.stringify(shownError(circular)).match(/"again"/g)).toHaveLength(4);
  });
});
