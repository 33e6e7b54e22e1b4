import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Headers = Readonly<Record<string, string>>;

export interface ProxiedRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body?: string;
}

/** A proxy that receives requests over TLS and forwards them to the service without TLS. */
export class TlsProxy {
  private constructor(private readonly server: Server) {}

  /** @param headers headers to set on each forwarded request. They replace headers of the client. */
  static async start(target: string, headers: Headers): Promise<TlsProxy> {
    const server = createServer(selfSigned(), (request, response) => {
      const onward = httpRequest(target + (request.url ?? ''), {
        method: request.method ?? 'GET',
        agent: false,
        headers: { ...endToEnd(request.headers), ...forwardedFor(request), ...headers },
      });
      onward.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    });
    server.listen(0, 'localhost');
    await once(server, 'listening');
    return new TlsProxy(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Sends a request to this proxy, like a browser for which another host name points to the proxy. */
  async request({ method = 'GET', path, headers, body }: ProxiedRequest) {
    const request = httpsRequest({ port: this.port, method, path, headers, agent: false, rejectUnauthorized: false });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const piece of response.setEncoding('utf8')) text += String(piece);
    return { status: response.statusCode, headers: response.headers, body: text };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** The headers without the headers that apply to one connection only. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name !== 'connection' && name !== 'transfer-encoding'),
  );
}

function forwardedFor({ headers, socket }: IncomingMessage): Headers {
  const before = headers['x-forwarded-for'];
  const address = socket.remoteAddress ?? '';
  return { 'x-forwarded-for': before === undefined ? address : `${String(before)}, ${address}` };
}

function selfSigned(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'chat-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  try {
    execFileSync('openssl', ['req', ...options, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
