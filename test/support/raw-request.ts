import { connect } from 'node:net';
import { once } from 'node:events';

/** Sends the bytes unchanged, and returns everything that the server sends until it ends the connection. */
export async function rawRequest(origin: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
  await once(socket, 'connect');
  socket.write(bytes, 'latin1');
  await once(socket, 'end');
  socket.destroy();
  return answer;
}
