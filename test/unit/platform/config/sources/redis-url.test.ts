import { describe, expect, it } from 'vitest';
import { readRedisUrl } from '../../../../../src/platform/config/sources/redis-url.js';

const NOBODY = { username: undefined, password: undefined };

describe('REDIS_URL', () => {
  it('names one server', () => {
    expect(readRedisUrl('rediss://ada:secret@one:6380/3')).toEqual({
      kind: 'server',
      url: 'rediss://ada:secret@one:6380/3',
      database: 3,
    });
    expect(readRedisUrl('redis://one')).toMatchObject({ kind: 'server', database: 0 });
  });

  it('names Sentinels and their master', () => {
    expect(readRedisUrl('redis+sentinel://ada:p%40ss@one:26379,two,[::1]:5000/ours/3')).toEqual({
      kind: 'sentinel',
      tls: false,
      sentinels: [
        { host: 'one', port: 26_379 },
        { host: 'two', port: 26_379 },
        { host: '::1', port: 5000 },
      ],
      sentinelCredentials: NOBODY,
      master: 'ours',
      credentials: { username: 'ada', password: 'p@ss' },
      database: 3,
    });
  });

  it('has a password of the servers, and another one of the Sentinels', () => {
    expect(readRedisUrl('rediss+sentinel://:a%3Ab@one/ours?sentinel_user=eve&sentinel_password=c%26d+=')).toMatchObject(
      {
        tls: true,
        credentials: { username: undefined, password: 'a:b' },
        sentinelCredentials: { username: 'eve', password: 'c&d+=' },
        database: 0,
      },
    );
  });

  it.each([
    ['redis+cluster://one:7000,two', false],
    ['rediss+cluster://one:7000,two/', true],
  ])('names some servers of a cluster: %s', (url, tls) => {
    expect(readRedisUrl(url)).toEqual({
      kind: 'cluster',
      tls,
      seeds: [
        { host: 'one', port: 7000 },
        { host: 'two', port: 6379 },
      ],
      credentials: NOBODY,
    });
  });

  it.each([
    ['one:6379', /^must be redis:/],
    ['http://one', /^must be redis:/],
    ['redis+sentinel://one', /name the master/],
    ['redis+sentinel://one/ours/x', /name the master/],
    ['redis+sentinel:///ours', /name its servers/],
    ['redis+sentinel://one,,two/ours', /name its servers/],
    ['redis+sentinel://one/ours?password=x', /parameters sentinel_user and sentinel_password$/],
    ['redis+sentinel://a%:b@one/ours', /% that is not encoded as %25/],
    ['redis+sentinel://one/ours?sentinel_password=%', /% that is not encoded as %25/],
    ['redis+cluster://one:7000/1', /a cluster has no databases/],
    ['redis+cluster://one:7000/ours', /must end after the servers/],
    ['redis+cluster://one?db=1', /must end after the servers/],
    ['redis+cluster://', /name its servers/],
  ])('is not %s, and the problem names no part of it', (url, problem) => {
    const found = readRedisUrl(url);
    expect(found).toMatch(problem);
    expect(found).not.toContain('one');
  });
});
