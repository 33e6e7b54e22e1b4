import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

const MODULE = join(import.meta.dirname, '..', '..', '..', '..', 'dist', 'observability', 'logs', 'service-logger.js');

/** Runs code with a `logger` in a process of its own, because the logger writes to the output of its process. */
function linesOf(level: string, code: string): Record<string, unknown>[] {
  const script = `const { ServiceLogger } = await import(${JSON.stringify(pathToFileURL(MODULE).href)});
    const logger = new ServiceLogger(${JSON.stringify(level)});
    ${code}`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
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
});
