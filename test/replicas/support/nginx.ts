import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { get } from '../../support/sse-client.js';
import { programAt } from '../../support/program.js';
import { closedPort } from '../../support/silent-server.js';
import { waitFor } from '../../support/wait-for.js';

const program = programAt('nginx');

/** Whether this machine has nginx. */
export const hasNginx = program !== undefined;

export interface RunningNginx {
  readonly origin: string;
  stop(): Promise<void>;
}

/** Starts nginx in front of replicas. It gives each request to the next replica. */
export async function startNginx(origins: readonly string[]): Promise<RunningNginx> {
  const folder = mkdtempSync(join(tmpdir(), 'chat-nginx-'));
  const origin = `http://127.0.0.1:${await closedPort()}`;
  const servers = origins.map((replica) => `server ${new URL(replica).host};`).join(' ');
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1;
    events { worker_connections 512; }
    http {
      access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/1; uwsgi_temp_path ${folder}/2; scgi_temp_path ${folder}/3;
      upstream replicas { ${servers} keepalive 32; }
      server {
        listen ${new URL(origin).host};
        location / {
          proxy_pass http://replicas;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header Host $http_host;
          proxy_buffering off;
          proxy_next_upstream off;
        }
      }
    }`,
  );
  const child = spawn(program ?? '', ['-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
  await waitFor(
    () =>
      get(origin, '/api/v1/health').then(
        ({ status }) => status === 200,
        () => false,
      ),
    'nginx to answer',
  );
  return {
    origin,
    async stop() {
      const over = once(child, 'exit');
      child.kill('SIGTERM');
      await over;
      rmSync(folder, { recursive: true });
    },
  };
}
