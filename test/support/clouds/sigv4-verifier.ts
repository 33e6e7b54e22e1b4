import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** A request with a signature, as a server receives it. */
export interface SignedRequest {
  readonly method: string;
  /** The path and the query, as they are on the wire. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string | Uint8Array;
}

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
  readonly service: string;
}

const HEADER =
  /^AWS4-HMAC-SHA256 Credential=([^/, ]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

/**
 * Checks a signature as AWS does (Signature Version 4, "Create a signed AWS API request", looked up on 2026-11-26). Written from the
 * specification, and not from a library that signs.
 *
 * @returns what is wrong, or `undefined`.
 */
export function signatureProblem(request: SignedRequest, key: SigningKey): string | undefined {
  const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
  const match = HEADER.exec(headers.get('authorization') ?? '');
  if (match === null) return 'there is no signature';
  const [, id, day = '', region, service, signed = '', signature = ''] = match;
  if (id !== key.accessKeyId) return 'the key is unknown';
  if (region !== key.region) return `the region is ${String(region)}`;
  if (service !== key.service) return `the service is ${String(service)}`;
  if (headers.get('x-amz-security-token') !== key.sessionToken) return 'the session token is wrong';
  const time = headers.get('x-amz-date') ?? '';
  if (!time.startsWith(day)) return 'the day is another one';
  const names = signed.split(';');
  const unsigned = [...headers.keys()].filter((name) => name === 'host' || name.startsWith('x-amz-'));
  if (!unsigned.every((name) => names.includes(name))) return 'a header must be signed';
  const [path = '', query = ''] = request.path.split(/\?(.*)/s);
  const bodyHash = sha256(request.body);
  if ((headers.get('x-amz-content-sha256') ?? bodyHash) !== bodyHash) return 'the hash of the body is wrong';
  const canonical = [
    request.method,
    path.split('/').map(encoded).join('/'),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${(headers.get(name) ?? '').trim().replaceAll(/ +/g, ' ')}`),
    '',
    signed,
    bodyHash,
  ].join('\n');
  const scope = `${day}/${key.region}/${key.service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const signingKey = [day, key.region, key.service, 'aws4_request'].reduce<Buffer>(
    (secret, text) => hmac(secret, text),
    Buffer.from(`AWS4${key.secretAccessKey}`),
  );
  const right = hmac(signingKey, toSign);
  return timingSafeEqual(right, Buffer.from(signature, 'hex')) ? undefined : 'the signature is wrong';
}

/** Encodes a segment of the path as it is on the wire: what is encoded there is encoded twice. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function canonicalQuery(query: string): string {
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return pairs.sort((one, other) => (one < other ? -1 : 1)).join('&');
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
