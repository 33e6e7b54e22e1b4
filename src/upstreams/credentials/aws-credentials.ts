import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Credential, CredentialSource } from '../contract/credential.js';
import { Steps } from '../../platform/common/event-loop/event-loop-turns.js';
import type { ResponseHeaders } from '../contract/protocol.js';
import type { EncodedRequest } from '../transport/encoded-request.js';

const Options = z.strictObject({
  /** The region of the endpoint. A signature is valid in one region only. */
  region: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be the name of a region, such as us-east-1'),
  /** A profile of the configuration files of AWS. By default, the environment decides. */
  profile: z.string().min(1).optional(),
  /** The service in the signature: `bedrock`, `bedrock-mantle`, or `execute-api` for a gateway of your own. */
  service: z.string().min(1).default('bedrock'),
});
type AwsOptions = z.infer<typeof Options>;

/** What AWS calls a credential that it refuses, as it answers 403 instead of 401. The header has a URL after the name. */
const REFUSED = /^(?:ExpiredToken|UnrecognizedClient|InvalidClientTokenId)/;

/** Signs requests with an identity of AWS: from the environment, a profile, SSO, a web identity, a pod identity or the instance. */
export class AwsCredentials implements CredentialSource<AwsOptions> {
  readonly kind = 'aws';
  readonly options = Options;
  readonly packages = ['@aws-sdk/credential-provider-node', '@smithy/signature-v4'] as const;

  async obtain({ region, profile, service }: AwsOptions): Promise<Credential> {
    const [{ defaultProvider }, { SignatureV4 }] = await Promise.all([
      import('@aws-sdk/credential-provider-node'),
      import('@smithy/signature-v4'),
    ]);
    // A provider keeps what it has found. A new one reads the files and the token of the identity again.
    const provider = defaultProvider({
      ...(profile !== undefined && { profile }),
      ignoreCache: true,
      clientConfig: { region },
    });
    const credentials = await provider();
    const signer = new SignatureV4({ credentials, region, service, sha256: NodeSha256 });
    return {
      expiresAt: credentials.expiration?.getTime(),
      authorize: async (request) => headersOf(await signer.sign(await signable(request))),
      isRefused,
    };
  }
}

function isRefused(status: number, headers: ResponseHeaders): boolean {
  const type = headers['x-amzn-errortype'];
  return status === 401 || (status === 403 && typeof type === 'string' && REFUSED.test(type));
}

/** The signature covers the address, the body and its type: a proxy may change any other header. */
async function signable(request: EncodedRequest) {
  const { method = 'POST', url, headers, pieces } = request;
  const { protocol, hostname, host, pathname: path, searchParams } = url;
  const { 'content-type': type } = headers;
  return {
    method,
    protocol,
    hostname,
    path,
    query: Object.fromEntries([...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)])),
    headers: {
      host,
      ...(type !== undefined && { 'content-type': type }),
      ...(pieces !== undefined && { 'x-amz-content-sha256': await hashInSteps(pieces) }),
    },
    body: pieces === undefined ? request.body : '',
  };
}

/** The hash of a long body. The signer takes it from the header, and would stop all streams to make it. */
async function hashInSteps(pieces: readonly Buffer[]): Promise<string> {
  const [hash, steps] = [createHash('sha256'), new Steps()];
  for (const piece of pieces) {
    hash.update(piece);
    if (steps.isOver) await steps.next();
  }
  return hash.digest('hex');
}

/** Returns what the signer has added. */
function headersOf({ headers }: { readonly headers: Readonly<Record<string, string>> }): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'host' && name !== 'content-type'));
}

/** The hash functions of Node, as the signer calls them. */
class NodeSha256 {
  private hash: ReturnType<typeof createHmac | typeof createHash>;

  constructor(private readonly secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = this.begin();
  }

  update(bytes: Uint8Array): void {
    this.hash.update(bytes);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.hash.digest());
  }

  reset(): void {
    this.hash = this.begin();
  }

  private begin() {
    const { secret } = this;
    if (secret === undefined) return createHash('sha256');
    return createHmac('sha256', typeof secret === 'string' ? secret : bytesOf(secret));
  }
}

function bytesOf(secret: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (secret instanceof ArrayBuffer) return new Uint8Array(secret);
  return new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength);
}
