import { createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProviderCall } from '../../../src/testing/provider/provider-call.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { operatorSignedIn } from '../../support/account-session.js';
import { browserOf } from '../../support/as-browser.js';
import { routesTo } from '../../support/catalog.js';
import { IdentityServer } from '../../support/clouds/identity-server.js';
import { signatureProblem } from '../../support/clouds/sigv4-verifier.js';
import { refusing } from '../../support/scripts.js';
import { startService, type RunningService } from '../../support/service.js';
import { stream } from '../../support/sse-client.js';
import { readWire } from '../../support/wire.js';

let identity: IdentityServer;
let provider: ScriptedProvider;
let service: RunningService | undefined;
let key: string;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'chat-credentials-'));
  identity = await IdentityServer.start();
  provider = await ScriptedProvider.start();
  provider.answers((call) => {
    if (identity.isValid(bearerOf(call))) call.answer('Hello', ' world');
    else call.refuse(401);
  });
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  await service?.stop();
  service = undefined;
  await Promise.all([identity.stop(), provider.stop()]);
  rmSync(folder, { recursive: true });
});

function bearerOf({ headers }: ProviderCall): string | undefined {
  return /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1];
}

/** Starts the service with one upstream, and with others after it. */
async function start(credentials: object, env: Record<string, string> = {}, others: readonly ScriptedProvider[] = []) {
  const { upstreams, models } = routesTo([provider, ...others]);
  const acme = { ...upstreams['acme'], api_key: undefined, credentials };
  service = await startService({ upstreams: { ...upstreams, acme }, models, env });
  ({ key } = await service.createKey());
  return service;
}

async function ask(): Promise<string> {
  const { origin } = service as RunningService;
  const { status, raw } = await stream(origin, { key });
  return status === 200 ? readWire(raw).text : `HTTP ${status}`;
}

function fileWith(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const secretOf = (authority: string) => ({
  AZURE_TENANT_ID: 'tenant-1',
  AZURE_CLIENT_ID: 'client-1',
  AZURE_CLIENT_SECRET: 's3cret',
  AZURE_AUTHORITY_HOST: authority,
});

describe('tokens of Entra ID', () => {
  it('are exchanged for a client secret, for the scope of the upstream', async () => {
    await start({ kind: 'azure', scope: 'https://ai.azure.com/.default' }, secretOf(identity.origin));
    expect(await ask()).toBe('Hello world');
    expect(await ask()).toBe('Hello world');
    expect(identity.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /tenant-1/oauth2/v2.0/token']);
    expect(Object.fromEntries(new URLSearchParams(identity.calls[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'client-1',
      client_secret: 's3cret',
      scope: 'https://ai.azure.com/.default',
    });
  });

  it('are exchanged for a federated token, which is read again each time', async () => {
    const file = fileWith('federated', 'first\n');
    const env = { ...secretOf(identity.origin), AZURE_CLIENT_SECRET: '', AZURE_FEDERATED_TOKEN_FILE: file };
    await start({ kind: 'azure' }, env);
    await ask();
    fileWith('federated', 'second');
    identity.revokeAll();
    expect(await ask()).toBe('Hello world');
    const sent = identity.calls.map(({ body }) => new URLSearchParams(body));
    expect(sent.map((body) => body.get('client_assertion'))).toEqual(['first', 'second']);
    expect(sent[0]?.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    expect(sent[0]?.get('scope')).toBe('https://cognitiveservices.azure.com/.default');
  });

  it('come from the metadata server of the machine', async () => {
    await start({ kind: 'azure' }, { AZURE_CLIENT_ID: 'client-1', AZURE_POD_IDENTITY_AUTHORITY_HOST: identity.origin });
    expect(await ask()).toBe('Hello world');
    const { pathname, searchParams } = new URL(identity.calls[0]?.path ?? '', identity.origin);
    expect(pathname).toBe('/metadata/identity/oauth2/token');
    expect(Object.fromEntries(searchParams)).toEqual({
      'api-version': '2018-02-01',
      resource: 'https://cognitiveservices.azure.com',
      client_id: 'client-1',
    });
    expect(identity.calls[0]?.headers.metadata).toBe('true');
  });

  it('come from the endpoint of App Service and Container Apps', async () => {
    await start(
      { kind: 'azure' },
      { IDENTITY_ENDPOINT: `${identity.origin}/msi/token`, IDENTITY_HEADER: 'app-header' },
    );
    expect(await ask()).toBe('Hello world');
    expect(identity.calls[0]?.path).toContain('/msi/token?api-version=2019-08-01');
    expect(identity.calls[0]?.headers['x-identity-header']).toBe('app-header');
  });
});

describe('tokens of Google', () => {
  it('are exchanged for the key of a service account, and name the project for the quota', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const file = fileWith(
      'key.json',
      JSON.stringify({
        type: 'service_account',
        project_id: 'project-1',
        quota_project_id: 'quota-1',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        client_email: 'chat@project-1.iam.gserviceaccount.com',
        token_uri: `${identity.origin}/token`,
      }),
    );
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
    await start({ kind: 'google' });
    expect(await ask()).toBe('Hello world');
    expect(await ask()).toBe('Hello world');
    expect(identity.issued).toBe(1);
    const assertion = new URLSearchParams(identity.calls[0]?.body).get('assertion') ?? '';
    const [head = '', claims = '', signature = ''] = assertion.split('.');
    const verifier = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    expect(verifier.verify(publicKey, signature, 'base64url')).toBe(true);
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      aud: `${identity.origin}/token`,
      iss: 'chat@project-1.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
    expect(provider.calls[0]?.headers['x-goog-user-project']).toBe('quota-1');
  });

  it('come from a workload identity federation, whose file is read again each time', async () => {
    const token = fileWith('workload', 'first');
    const file = fileWith(
      'federation.json',
      JSON.stringify({
        type: 'external_account',
        audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/k8s',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${identity.origin}/v1/token`,
        credential_source: { file: token },
      }),
    );
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
    await start({ kind: 'google', scopes: ['https://www.googleapis.com/auth/cloud-platform'] });
    expect(await ask()).toBe('Hello world');
    fileWith('workload', 'second');
    identity.revokeAll();
    expect(await ask()).toBe('Hello world');
    const sent = identity.calls.map(({ body }) => new URLSearchParams(body).get('subject_token'));
    expect(sent).toEqual(['first', 'second']);
  });
});

describe('keys of AWS', () => {
  beforeEach(() => {
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    provider.answers((call) => {
      const { method, path, headers, body } = call;
      const sessionToken = headers['x-amz-security-token'] as string;
      const signing = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret-of-aws', sessionToken };
      const problem = signatureProblem(
        { method, path, headers, body },
        { ...signing, region: 'eu-central-1', service: 'bedrock' },
      );
      if (problem !== undefined) call.refuse(403, { 'x-amzn-errortype': 'InvalidSignatureException' }, problem);
      else if (identity.isValid(sessionToken)) call.answer('Hello', ' world');
      else call.refuse(403, { 'x-amzn-errortype': 'ExpiredTokenException:http://internal' });
    });
  });

  it('come from the endpoint for containers, once for many requests, and sign what is sent', async () => {
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${identity.origin}/container`);
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'pod-token');
    await start({ kind: 'aws', region: 'eu-central-1' });
    expect(await ask()).toBe('Hello world');
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    expect(new Set(answers)).toEqual(new Set(['Hello world']));
    expect(identity.calls.map(({ headers }) => headers.authorization)).toEqual(['pod-token']);
  });

  it('that the provider calls expired are replaced', async () => {
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${identity.origin}/container`);
    await start({ kind: 'aws', region: 'eu-central-1' });
    await ask();
    identity.revokeAll();
    expect(await ask()).toBe('Hello world');
    expect(identity.issued).toBe(2);
  });

  it('come from STS for the token of a pod, which is read again each time', async () => {
    const file = fileWith('pod', 'first');
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', file);
    vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/chat');
    vi.stubEnv('AWS_ENDPOINT_URL_STS', identity.origin);
    await start({ kind: 'aws', region: 'eu-central-1' });
    expect(await ask()).toBe('Hello world');
    await Promise.all(Array.from({ length: 10 }, ask));
    expect(identity.issued).toBe(1);
    fileWith('pod', 'second');
    identity.revokeAll();
    expect(await ask()).toBe('Hello world');
    const sent = identity.calls.map(({ body }) => new URLSearchParams(body).get('WebIdentityToken'));
    expect(sent).toEqual(['first', 'second']);
  });

  it('come from the metadata server of the instance', async () => {
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', '');
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', identity.origin);
    await start({ kind: 'aws', region: 'eu-central-1' });
    expect(await ask()).toBe('Hello world');
  });

  it('come from a profile, which is read again', async () => {
    const profile = (secret: string) =>
      fileWith('credentials', `[team]\naws_access_key_id=AKIDEXAMPLE\naws_secret_access_key=${secret}\n`);
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', profile('old'));
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
    let secretAccessKey = 'old';
    provider.answers((call) => {
      const signing = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey, region: 'us-east-1', service: 'bedrock' };
      if (signatureProblem(call, signing) === undefined) call.answer('Hello', ' world');
      else call.refuse(403, { 'x-amzn-errortype': 'UnrecognizedClientException' });
    });
    await start({ kind: 'aws', region: 'us-east-1', profile: 'team' });
    expect(await ask()).toBe('Hello world');
    secretAccessKey = 'new';
    profile(secretAccessKey);
    expect(await ask()).toBe('Hello world');
  });
});

describe('headers of a program', () => {
  const program = (code: string) => ({ kind: 'command', command: [process.execPath, '-e', code] });

  it('are sent until they expire, and replace those of the protocol', async () => {
    provider.answers((call) => {
      call.answer(String(call.headers.authorization), String(call.headers['x-vault']));
    });
    const printed = { headers: { Authorization: 'Vault 1', 'X-Vault': 'blue' }, expires_at: '2126-01-01T00:00:00Z' };
    await start(program(`console.log(${JSON.stringify(JSON.stringify(printed))})`));
    expect(await ask()).toBe('Vault 1blue');
  });

  const failing = {
    'ends with an error': 'console.error("s3cret"); process.exit(3)',
    'prints something else': 'console.log("s3cret")',
    'prints headers that are no headers': 'console.log(JSON.stringify({headers: {authorization: "s3cret\\n"}}))',
    'prints without end': 'setInterval(() => console.log("x".repeat(1e5)), 1)',
    'prints what has expired': 'console.log(JSON.stringify({headers: {a: "b"}, expires_at: 1000}))',
  };
  it(`of a program that ${Object.keys(failing).join(', or ')}, are a failure of the route`, async () => {
    const backup = await ScriptedProvider.start();
    const codes = Object.values(failing);
    const { upstreams, models } = routesTo([...codes.map(() => provider), backup]);
    const withPrograms = Object.entries(upstreams).map(([name, upstream], index) => {
      const code = codes[index];
      return [name, code === undefined ? upstream : { ...upstream, api_key: undefined, credentials: program(code) }];
    });
    service = await startService({ upstreams: Object.fromEntries(withPrograms) as typeof upstreams, models });
    ({ key } = await service.createKey());
    expect(await ask()).toBe('Hello world');
    expect([provider.calls.length, backup.calls.length]).toEqual([0, 1]);
    await service.stop();
    service = undefined;
    await backup.stop();
  });
});

describe('a token that the provider refuses', () => {
  it('is replaced once before the first text, and the request is sent again', async () => {
    await start({ kind: 'azure' }, secretOf(identity.origin));
    await ask();
    identity.revokeAll();
    expect(await ask()).toBe('Hello world');
    expect(identity.issued).toBe(2);
    expect(provider.calls.map(bearerOf)).toEqual(['token-1', 'token-1', 'token-2']);
    expect(provider.calls[2]?.body).toBe(provider.calls[1]?.body);
  });

  it('is not replaced for each request if the provider refuses all', async () => {
    provider.answers(refusing(401));
    await start({ kind: 'azure' }, secretOf(identity.origin));
    for (let request = 0; request < 4; request++) expect(await ask()).toBe('HTTP 502');
    expect(identity.issued).toBe(2);
  });
});

/** Moves the clock of this process, but none of its timers. */
function moveClock(minutes: number): void {
  const now = Date.now() + minutes * 60_000;
  vi.useFakeTimers({ toFake: ['Date'], now });
}

describe('200 streams while a token expires', () => {
  it('cause one refresh, and none fails', async () => {
    await start({ kind: 'azure' }, secretOf(identity.origin));
    await ask();
    const answers = Array.from({ length: 50 }, ask);
    moveClock(56);
    answers.push(...Array.from({ length: 100 }, ask));
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['Hello world']));
    moveClock(5);
    const later = await Promise.all(Array.from({ length: 50 }, ask));
    expect(new Set(later)).toEqual(new Set(['Hello world']));
    expect(identity.issued).toBe(2);
    expect(provider.calls.length).toBe(201);
  });
});

describe('an outage of the token endpoint', () => {
  const down = (call: ProviderCall) => {
    call.reply({ error: 'invalid_client', error_description: 's3cret' }, 401);
  };

  it('leads to the next route, and is on the status page with its reason', async () => {
    const backup = await ScriptedProvider.start();
    identity.outage = down;
    const { origin } = await start({ kind: 'azure' }, secretOf(identity.origin), [backup]);
    expect(await ask()).toBe('Hello world');
    expect([provider.calls.length, backup.calls.length]).toEqual([0, 1]);
    const operator = browserOf(origin, await operatorSignedIn(service as RunningService));
    const page = await (await operator.get('/operator/status')).body();
    expect(page).toContain('upstream_error (credentials_unavailable, HTTP 401, invalid_client)');
    expect(page).not.toContain('s3cret');
    await service?.stop();
    service = undefined;
    await backup.stop();
  });

  it('does not concern streams whose token is still valid', async () => {
    await start({ kind: 'azure' }, secretOf(identity.origin));
    await ask();
    let end!: () => void;
    const held = new Promise<void>((resolve) => (end = resolve));
    identity.outage = (call) => held.then(() => void call.cut());
    moveClock(56);
    for (let request = 0; request < 20; request++) expect(await ask()).toBe('Hello world');
    expect(identity.calls.length).toBe(2);
    end();
  });
});
