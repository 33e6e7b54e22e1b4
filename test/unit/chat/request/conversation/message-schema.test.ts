import { describe, expect, it } from 'vitest';
import { imageProblem } from '../../../../../src/chat/request/conversation/message-schema.js';

const problemOf = (data: string) => imageProblem(`data:image/png;base64,${data}`, undefined);

describe('the data of an image', () => {
  it.each(['QUJD', 'QUI=', 'QQ==', '+/+/', 'QUJD'.repeat(50_000)])('is accepted as base64 (case %#)', (data) => {
    expect(problemOf(data)).toBeUndefined();
  });

  it.each([
    '',
    '=',
    '====',
    'QUJ',
    'QU=D',
    'QQ=D',
    'QU D',
    'QU\nD',
    'QU-D',
    'QU_D',
    'QUéD',
    'QU€D',
    'Q===',
    'QUJD====',
  ])('is refused if it is not base64 (case %#)', (data) => {
    expect(problemOf(data)).toBe('must contain valid base64');
  });
});
