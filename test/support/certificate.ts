import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  readonly key: string;
  readonly certificate: string;
}

/** Creates the files of a self-signed certificate for 127.0.0.1 in the folder. Clients trust the certificate as its own CA. */
export function createCertificate(folder: string): Certificate {
  const files = { key: join(folder, 'tls.key'), certificate: join(folder, 'tls.crt') };
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', files.key];
  execFileSync('openssl', ['req', '-x509', ...key, '-out', files.certificate, '-days', '2', ...subject], {
    stdio: 'ignore',
  });
  chmodSync(files.key, 0o644);
  return files;
}

/** The settings of a Redis server or Sentinel that accepts TLS only, on the port. */
export function tlsSettings(port: number, { key, certificate }: Certificate): Readonly<Record<string, string>> {
  return {
    ...{ port: '0', 'tls-port': String(port), 'tls-cert-file': certificate, 'tls-key-file': key },
    ...{ 'tls-ca-cert-file': certificate, 'tls-auth-clients': 'no', 'tls-replication': 'yes' },
  };
}
