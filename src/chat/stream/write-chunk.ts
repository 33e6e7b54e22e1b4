import type { Response } from 'express';

/**
 * Writes a text as one chunk of the body. This function creates the chunk as one string. Node would write four buffers, and
 * each event would cost a sixth more. The headers must have been sent.
 *
 * @returns false when the body is not chunked (HTTP/1.0), or the connection is closed. Nothing is written then.
 */
export function writeChunk({ socket, chunkedEncoding }: Response, text: string): boolean {
  if (socket === null || !chunkedEncoding) return false;
  socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  return true;
}
