import { Controller, Get, Ip, Module } from '@nestjs/common';
import { constants } from 'node:http2';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Public } from '../../src/platform/http/routing/route-decorators.js';
import { Latch } from '../support/latch.js';
import { HELLO } from '../support/sse-client.js';
import { setStage, type Stage } from '../support/stage.js';
import { waitFor } from '../support/wait-for.js';
import { ProxyClient } from './proxy-client.js';
import { PROXIES, RunningProxy, textOf } from './proxies.js';

const FOUR_MIB = 4 * 1024 * 1024;
const CREDENTIALS = { email: 'ada@example.com', password: 'correct horse battery' };

@Controller('address')
class AddressController {
  @Get()
  @Public()
  address(@Ip() address: string) {
    return { address };
  }
}

@Module({ controllers: [AddressController] })
class AddressModule {}

describe.each(PROXIES)('behind $name, as deploy/proxies/$file configures it, the service', (kind) => {
  describe.skipIf(kind.program === undefined)(`with ${kind.name}`, () => {
    let stage: Stage;
    let proxy: RunningProxy;
    let client: ProxyClient;

    beforeAll(async () => {
      stage = await setStage(1, { modules: [AddressModule], env: { TRUST_PROXY: '1' } });
      proxy = await RunningProxy.start(kind, Number(new URL(stage.origin).port));
    });
    afterAll(async () => {
      await proxy.stop();
      await stage.clear();
    });
    beforeEach(() => {
      client = new ProxyClient(proxy);
    });
    afterEach(() => {
      client.close();
    });

    const ask = (body?: object) => client.ask(stage.key, body);

    it('streams each text as the provider writes it, over HTTP/2', async () => {
      const latches = [new Latch(), new Latch()];
      stage.provider.next(async (call) => {
        call.head().text('one');
        await latches[0]?.opened;
        call.text('two');
        await latches[1]?.opened;
        call.finish().endMarker().end();
      });
      const answer = ask();
      for (const [index, text] of ['one', 'two'].entries()) {
        await waitFor(() => answer.text.endsWith(`data: {"content":"${text}","done":false}\n\n`), text);
        latches[index]?.open();
      }
      await waitFor(() => answer.isOver, 'the end of the stream');
      expect(answer.text).toContain('"done":true');
    });

    it('gets bodies of 4 MiB, and refuses larger ones itself', async () => {
      const rest = JSON.stringify({ ...HELLO, messages: [{ role: 'user', content: '' }] }).length;
      const body = (size: number) => ({ messages: [{ role: 'user', content: 'x'.repeat(size - rest) }] });
      const whole = ask(body(FOUR_MIB));
      await waitFor(() => whole.isOver, 'the answer', 20_000);
      expect(whole.status).toBe(200);
      const large = ask(body(FOUR_MIB + 1000));
      await waitFor(() => large.isOver, 'the refusal', 20_000);
      expect(large.status).toBe(413);
      expect(JSON.parse(large.text)).toMatchObject({ error: { code: 'payload_too_large' } });
    });

    it('notices a client that leaves while the provider is silent', async () => {
      const count = stage.provider.calls.length;
      stage.provider.next(() => undefined);
      const answer = ask();
      const call = await waitFor(() => stage.provider.calls[count], 'the call');
      answer.stream.close(constants.NGHTTP2_CANCEL);
      await waitFor(() => call.abortedAt !== undefined, 'the call to be aborted');
    });

    it('signs users in from a form', async () => {
      const form = new URLSearchParams(CREDENTIALS).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: proxy.origin };
      for (const path of ['/sign-up', '/sign-in']) {
        const answer = client.send('POST', path, headers, form);
        await waitFor(() => answer.isOver, `the answer of ${path}`);
        expect(answer.status).toBe(303);
      }
      const foreign = client.send('POST', '/sign-in', { ...headers, origin: 'https://evil.example' }, form);
      await waitFor(() => foreign.isOver, 'the refusal');
      expect(foreign.status).toBe(403);
    });

    it('knows the address of the client, whatever the client writes into X-Forwarded-For', async () => {
      for (const headers of [
        {},
        { 'x-forwarded-for': '203.0.113.7' },
        { 'x-forwarded-for': '203.0.113.7, 198.51.100.2' },
      ]) {
        const answer = client.send('GET', '/api/v1/address', headers);
        await waitFor(() => answer.isOver, 'the address');
        const { address } = JSON.parse(answer.text) as { address: string };
        expect(['127.0.0.1', '::1', '::ffff:127.0.0.1']).toContain(address);
      }
    });
  });

  it('finds the same file in docs/operations.md', () => {
    const operations = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
    expect(operations).toContain(`\n${textOf(kind)}\`\`\`\n`);
  });
});
