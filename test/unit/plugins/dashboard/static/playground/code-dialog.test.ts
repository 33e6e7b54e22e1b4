import fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { anyString } from '../../../../../../src/testing/protocols/describe-events.js';
import { curlCommand } from '../../../../../../src/plugins/dashboard/static/playground/code-dialog.js';

const ORIGIN = 'http://localhost:3000';
/** In place of curl: says what it was called with. */
const CURL = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; case "$*" in *@-) cat;; esac; }`;
const NASTY = [
  "it's",
  '$(date) `date` $API_KEY',
  'a "b" \\ \\n',
  'two\nlines\r\n\t',
  '!! #',
  'ä € 🦜 \u2028',
  '\u0000\ud800',
  '%s %n @file',
];

function requestWith(content: string) {
  return { model: 'acme/fast', messages: [{ role: 'user' as const, content }], temperature: 0.7 };
}

/** The words that curl would get, and its standard input. */
function run(command: string, shell = 'sh'): string[] {
  const { stdout, stderr, status } = spawnSync(shell, [], {
    input: `${CURL}\n${command}\n`,
    env: { API_KEY: 'csk_1', PATH: process.env['PATH'] },
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout.split('\0');
}

describe('the request as curl', () => {
  it.each(['sh', 'bash'])('is the very request in %s, whatever its text', (shell) => {
    for (const text of NASTY) {
      const request = requestWith(text);
      const words = run(curlCommand(ORIGIN, request), shell);
      expect(words.slice(0, 7)).toEqual([
        '-N',
        `${ORIGIN}/api/v1/chat/stream`,
        '-H',
        'Authorization: Bearer csk_1',
        '-H',
        'Content-Type: application/json',
        '--data-raw',
      ]);
      expect(words[7]).toBe(JSON.stringify(request));
    }
  });

  it('is the very request for arbitrary texts', () => {
    fc.assert(
      fc.property(anyString, (text) => {
        expect(run(curlCommand(ORIGIN, requestWith(text)))[7]).toBe(JSON.stringify(requestWith(text)));
      }),
      { numRuns: 30 },
    );
  });

  it('that is longer than an argument may be goes through standard input', () => {
    const request = requestWith("it's ".repeat(60_000));
    const words = run(curlCommand(ORIGIN, request));
    expect(words.slice(6, 8)).toEqual(['--data-binary', '@-']);
    expect(words[8]).toBe(JSON.stringify(request));
  });
});
