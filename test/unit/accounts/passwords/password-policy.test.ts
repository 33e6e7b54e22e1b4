import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passwordProblem } from '../../../../src/accounts/passwords/password-policy.js';

const EMAIL = 'ada.lovelace@example.com';
const problemOf = (password: string) => passwordProblem(password, EMAIL);

describe('a new password', () => {
  it.each([
    ['eight characters', 'k7!xQ2mz'],
    ['letters only', 'gzorpenflax'],
    ['a sentence with spaces', 'the cat sat on my other hat'],
    ['spaces around it', '  my own words  '],
    ['another script', 'пароль-от-моего-чата'],
    ['eight emoji, of two code units each', '🦊🐼🐨🦁🐯🐮🐷🐸'],
    ['1,024 characters', 'long words '.repeat(94).slice(0, 1024)],
    ['a line break', 'password1\npassword1'],
    ['the address with something added', `${EMAIL} and more`],
  ])('may be of %s', (_, password) => {
    expect(problemOf(password)).toBeUndefined();
  });

  it.each([
    ['seven characters', 'k7!xQ2m'],
    ['seven characters in more bytes', 'üüöäßéñ'],
    ['four emoji, of eight code units together', '🦊🐼🐨🦁'],
    ['nothing', ''],
    ['1,025 characters', 'long words '.repeat(94).slice(0, 1025)],
    ['seven characters that are more before they are normalized', 'e\u0301'.repeat(7)],
  ])('must not be of %s', (_, password) => {
    expect(problemOf(password)).toMatch(/8 to 1024 characters/);
  });

  it.each([
    'password',
    'PASSWORD1',
    'iloveyou',
    '12345678',
    'qwertyuiop',
    'ｐａｓｓｗｏｒｄ',
    'aaaaaaaaaaaa',
    '🦊'.repeat(9),
  ])('must not be what everybody tries: %s', (password) => {
    expect(problemOf(password)).toMatch(/too common/);
  });

  it.each([EMAIL, EMAIL.toUpperCase(), 'Ada.Lovelace'])('must not be the address: %s', (password) => {
    expect(problemOf(password)).toMatch(/email address/);
  });

  it.each(['chat-streaming-service', 'Chat Streaming Service', 'CHATSTREAMING'])(
    'must not be the name of the service: %s',
    (password) => {
      expect(problemOf(password)).toMatch(/name of the service/);
    },
  );

  it('is not refused for what kinds of characters it has, or has not', () => {
    const kinds = ['abcdefghij', 'ABCDEFGHIJ', '0123456789', '!"§$%&/()=', 'あいうえおかきくけこ'];
    const anyOfOneKind = fc
      .constantFrom(...kinds)
      .chain((kind) =>
        fc
          .array(fc.constantFrom(...Array.from(kind)), { minLength: 14, maxLength: 40 })
          .map((characters) => characters.join('')),
      );
    fc.assert(
      fc.property(anyOfOneKind, (password) => {
        fc.pre(new Set(password).size > 5);
        expect(problemOf(password)).toBeUndefined();
      }),
    );
  });
});
