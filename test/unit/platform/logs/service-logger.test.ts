import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { shownError } from '../../../../src/platform/logs/service-logger.js';

const MODULE = join(import.meta.dirname, '..', '..', '..', '..', 'dist', 'platform', 'logs', 'service-logger.js');

/** The arguments of Node for code with a `logger`. It has a process of its own, because the logger writes to the output of its process. */
function programOf(level: string, code: string): string[] {
  const script = `const { ServiceLogger } = await import(${JSON.stringify(pathToFileURL(MODULE).href)});
    const logger = new ServiceLogger(${JSON.stringify(level)});
    ${code}`;
  return ['--input-type=module', '--eval', script];
}

function linesOf(level: string, code: string): Record<string, unknown>[] {
  const { stdout, stderr } = spawnSync(process.execPath, programOf(level, code), { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the log of the service', () => {
  it('is one line of JSON for each entry, with its level, context and members, or the stack of a failure', () => {
    const lines = linesOf(
      'trace',
      `logger.log('a text', 'Ours');
       logger.warn({ msg: 'an object', count: 2 }, 'Ours');
       logger.error('a failure', 'Error: why\\n    at here', 'Ours');
       logger.error({ msg: 'a failed request', requestId: 'r1' }, 'Error: why', 'Ours');
       logger.error(Object.assign(new Error('lost'), { code: 'E1', query: 'private' }), 'Ours');
       logger.debug('details', 'Ours');
       logger.verbose('more details');`,
    );
    expect(lines).toMatchObject([
      { level: 30, context: 'Ours', msg: 'a text' },
      { level: 40, context: 'Ours', msg: 'an object', count: 2 },
      { level: 50, context: 'Ours', msg: 'a failure', stack: 'Error: why\n    at here' },
      { level: 50, context: 'Ours', msg: 'a failed request', requestId: 'r1', stack: 'Error: why' },
      { level: 50, context: 'Ours', msg: 'lost', err: { type: 'Error', message: 'lost', code: 'E1' } },
      { level: 20, context: 'Ours', msg: 'details' },
      { level: 10, msg: 'more details' },
    ]);
    for (const { time } of lines) expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(JSON.stringify(lines)).not.toContain('private');
  });

  it('leaves out what Nest logs of its own start, and the failures of a start, which are reported elsewhere', () => {
    const lines = linesOf(
      'info',
      `for (const context of ['NestFactory', 'InstanceLoader', 'RoutesResolver']) logger.log('of Nest', context);
       logger.error('of Nest', 'ExceptionHandler');
       logger.log('of ours', 'Ours');`,
    );
    expect(lines.map(({ msg }) => msg)).toEqual(['of ours']);
  });

  it('has a new level for the loggers that exist, too', () => {
    const lines = linesOf(
      'info',
      `logger.log('before', 'Ours');
       logger.setLevel('warn');
       logger.log('too low', 'Ours');
       logger.warn('after', 'Ours');`,
    );
    expect(lines.map(({ msg }) => msg)).toEqual(['before', 'after']);
  });

  it('has every line in order, however many they are, when the process ends', () => {
    const lines = linesOf(
      'info',
      `for (let n = 0; n < 5_000; n += 1) logger.log({ n, text: 'ä'.repeat(20) }); process.exit(0);`,
    );
    expect(lines.map(({ n }) => n)).toEqual([...Array(5_000).keys()]);
  });

  it('does not keep the process when the reader of its output has ended', async () => {
    // Nothing was written since the reader ended: the last write fails.
    const code = `process.stdin.once('data', () => { logger.log('the last line'); process.exit(7); });`;
    const program = spawn(process.execPath, programOf('info', code), { stdio: ['pipe', 'pipe', 'inherit'] });
    program.stdout.destroy();
    program.stdin.write('end');
    expect(await once(program, 'exit')).toEqual([7, null]);
  });

  it('does not keep the process when the reader of its output has stopped', async () => {
    const code = `logger.log('x'.repeat(1_000_000)); setTimeout(() => { logger.log('the last line'); process.exit(7); }, 200);`;
    const reader = spawn('sleep', ['60'], { stdio: ['pipe', 'ignore', 'inherit'] });
    try {
      const program = spawn(process.execPath, programOf('info', code), { stdio: ['ignore', reader.stdin, 'inherit'] });
      expect(await once(program, 'exit')).toEqual([7, null]);
    } finally {
      reader.kill('SIGKILL');
    }
  });
});

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
