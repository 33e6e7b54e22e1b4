import { Inject, Injectable } from '@nestjs/common';
import {
  AccountsService,
  ChatPlugin,
  isFromTrustedProxy,
  PLUGIN_CONFIG,
  ServiceError,
  type Principal,
  type SecurityScheme,
} from 'chat-streaming-service';
import type { Request } from 'express';
import { Strategy } from 'passport';
import { z } from 'zod';

const Config = z.strictObject({
  /** The header in which the proxy writes the subject of a client certificate that it has checked, in lower case. */
  header: z.string().toLowerCase().default('x-client-subject'),
});

/** The common name of a subject, such as `CN=robot-1,O=Acme`. */
const COMMON_NAME = /(?:^|[,/]) ?CN=(?<name>[\w.-]+)/;

/**
 * Mutual TLS: the proxy checks the certificate of the client, and names its subject in a header. The account has the address
 * `<common name>@machines.example.com`. The proxy must remove the header from all other requests.
 */
@Injectable()
export class CertificateStrategy extends Strategy {
  static readonly strategyName = 'certificate';
  static readonly hint = 'Or use a client certificate of the company.';
  static readonly securityScheme: SecurityScheme = { type: 'mutualTLS', description: 'A certificate of the company.' };

  constructor(
    @Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>,
    private readonly accounts: AccountsService,
  ) {
    super();
  }

  override authenticate(request: Request): void {
    const subject = request.headers[this.config.header];
    if (typeof subject !== 'string' || subject === '' || !isFromTrustedProxy(request)) this.fail();
    else
      this.principalOf(subject).then(
        (principal) => this.success(principal),
        (error: unknown) => this.error(error),
      );
  }

  private async principalOf(subject: string): Promise<Principal> {
    const name = COMMON_NAME.exec(subject)?.groups?.['name'];
    const account = name && (await this.accounts.findByEmail(`${name}@machines.example.com`));
    if (!account || account.disabledAt !== null) {
      throw new ServiceError('unauthenticated', 'The certificate is for no active account.');
    }
    const credential = { kind: 'external', id: `certificate:${subject}` } as const;
    return { accountId: account.id, tier: this.accounts.tierOf(account), credential };
  }
}

@ChatPlugin({ name: 'certificate', compatibility: '^1', config: Config, strategies: [CertificateStrategy] })
export class CertificatePlugin {}
