/** Far above what an issuer answers: its metadata, its keys, a token with many groups. */
const MAX_BYTES = 1024 * 1024;

/**
 * `fetch` for answers of an issuer: reads at most 1 MiB, and follows no redirect. The signal of the request ends the reading, too.
 *
 * @throws {Error} if the answer is longer.
 */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  const response = await fetch(url, { ...options, redirect: 'manual' });
  const { status, statusText, headers } = response;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error(`The issuer sent more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const hasBody = status !== 204 && status !== 304;
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, statusText, headers });
}
