import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTls } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programAt } from '../support/program.js';
import { closedPort } from '../support/silent-server.js';
import { waitFor } from '../support/wait-for.js';

const FILES = join(import.meta.dirname, '../../deploy/proxies');

/** A proxy program with its file in deploy/proxies. */
export interface ProxyKind {
  readonly name: string;
  readonly file: string;
  readonly program: string | undefined;
  /** The arguments that run the file in the foreground. */
  readonly argumentsFor: (file: string, folder: string) => readonly string[];
}

export const PROXIES: readonly ProxyKind[] = [
  {
    name: 'nginx',
    file: 'nginx.conf',
    program: programAt('nginx'),
    argumentsFor: (file, folder) => ['-c', file, '-g', `daemon off; pid ${join(folder, 'pid')}; error_log stderr;`],
  },
  {
    name: 'HAProxy',
    file: 'haproxy.cfg',
    program: programAt('haproxy'),
    argumentsFor: (file) => ['-db', '-f', file],
  },
  {
    name: 'Caddy',
    file: 'Caddyfile',
    program: programAt('caddy'),
    argumentsFor: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
];

export function textOf({ file }: ProxyKind): string {
  return readFileSync(join(FILES, file), 'utf8');
}

/** A running proxy in front of a service. Only the addresses and the paths of the certificate differ from the file. */
export class RunningProxy {
  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  static async start(kind: ProxyKind, servicePort: number): Promise<RunningProxy> {
    const folder = mkdtempSync(join(tmpdir(), 'chat-proxy-'));
    chmodSync(folder, 0o755);
    certificateIn(folder);
    const port = await closedPort();
    const file = join(folder, kind.file);
    writeFileSync(
      file,
      textOf(kind)
        .replaceAll('/etc/ssl/chat', folder)
        .replaceAll('127.0.0.1:3000', `127.0.0.1:${servicePort}`)
        .replace('chat.example.com:443', `https://localhost:${port}`)
        .replace('chat.example.com', 'localhost')
        .replace(/\b(listen |bind :)443\b/, `$1${port}`),
    );
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const child = spawn(kind.program ?? '', kind.argumentsFor(file, folder), {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    await waitFor(
      async () => {
        if (child.exitCode !== null) throw new Error(`${kind.name} did not start:\n${output}`);
        return accepts(port);
      },
      `${kind.name} to listen`,
      20_000,
    );
    return new RunningProxy(port, child, folder);
  }

  get origin(): string {
    return `https://localhost:${this.port}`;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null) {
      const over = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      await over;
    }
    rmSync(this.folder, { recursive: true });
  }
}

function certificateIn(folder: string): void {
  const [key, chain] = [join(folder, 'key.pem'), join(folder, 'fullchain.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...algorithm, '-keyout', key, '-out', chain, '-days', '2', ...subject], {
    stdio: 'ignore',
  });
  writeFileSync(join(folder, 'combined.pem'), readFileSync(chain, 'utf8') + readFileSync(key, 'utf8'));
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false });
    socket.once('secureConnect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
