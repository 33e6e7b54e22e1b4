import { z } from 'zod';
import type { ClaimCondition, SingleSignOnConfig } from '../config.js';
import { converted } from './environment-values.js';

const LOOPBACK = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;
const HTTPS_OR_LOCAL = 'must be https://…, or http://… with a host name of this machine';

/** Whether nobody else on the network can read what is sent to the address. */
function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

const publicUrl = z
  .string()
  .meta({ accepts: 'an origin `https://host` or `https://host:port`' })
  .transform((text, context): string => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const message =
      url === undefined || !isProtected(url)
        ? HTTPS_OR_LOCAL
        : url.origin === text || `${url.origin}/` === text
          ? undefined
          : 'must be an origin without a path, such as https://chat.example.com';
    if (message === undefined && url !== undefined) return url.origin;
    context.addIssue({ code: 'custom', message: message ?? HTTPS_OR_LOCAL });
    return z.NEVER;
  });

const issuer = z
  .string()
  .meta({ accepts: '`https://…`' })
  .superRefine((text, context) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isIssuer =
      url !== undefined && isProtected(url) && url.search === '' && url.hash === '' && url.username === '';
    if (!isIssuer) context.addIssue({ code: 'custom', message: HTTPS_OR_LOCAL });
    else if (text.includes('/.well-known/')) {
      context.addIssue({ code: 'custom', message: 'must be the issuer, without /.well-known/openid-configuration' });
    }
  });

const scopes = z
  .string()
  .meta({ accepts: 'a list of scopes, separated by spaces' })
  .refine((text) => /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text), {
    message: 'must be a list of scopes, separated by one space',
    abort: true,
  })
  .refine((text) => text.split(' ').includes('openid'), 'must contain openid');

const CLAIM_NAME = 'must be the name of a claim';
const claimName = z
  .string()
  .regex(/^[^\s=]+$/, CLAIM_NAME)
  .meta({ accepts: 'the name of a claim' });

const claimCondition = converted(
  (text): ClaimCondition | undefined => {
    const [, name, value] = /^([^\s=]+)(?:=(.+))?$/.exec(text) ?? [];
    return name === undefined ? undefined : { name, value: value ?? 'true' };
  },
  { accepts: '`claim` or `claim=value`', message: 'must be the name of a claim, or claim=value' },
);

const onOrOff = z.enum(['on', 'off'], 'must be on or off');

/** The variables of single sign-on, as a part of the schema of the environment. */
export const SINGLE_SIGN_ON_VARIABLES = {
  PASSWORDS: onOrOff.default('on').meta({
    description:
      '`off`: accounts have no passwords, and people sign in by single sign-on only. Needs `OIDC_ISSUER`. See [Single sign-on](single-sign-on.md).',
  }),
  PUBLIC_URL: publicUrl.optional().meta({
    description:
      'The address under which browsers reach the service. Links of invitations and for new passwords begin with it, and the issuer of single sign-on sends browsers back to it.',
    unset: 'links begin with the address of the request, and there is no single sign-on',
  }),
  OIDC_ISSUER: issuer.optional().meta({
    description:
      'The issuer of OpenID Connect by which people sign in. Needs `OIDC_CLIENT_ID`, `OIDC_CLIENT_SECRET` and `PUBLIC_URL`. ' +
      'See [Single sign-on](single-sign-on.md).',
    unset: 'no single sign-on',
  }),
  OIDC_CLIENT_ID: z.string().optional().meta({
    description: 'The id of this service at the issuer.',
    accepts: 'text',
    unset: 'no single sign-on',
  }),
  OIDC_CLIENT_SECRET: z.string().optional().meta({
    description: 'The secret of this service at the issuer. All replicas need the same secret.',
    accepts: 'text',
    unset: 'no single sign-on',
  }),
  OIDC_SCOPES: scopes.default('openid profile email').meta({
    description: 'The scopes that the service asks the issuer for. They decide which claims the issuer sends.',
  }),
  OIDC_REQUIRED_CLAIM: claimCondition.optional().meta({
    description:
      'Only people with this claim can sign in by single sign-on. The claim must have this value, or contain it in a list; without ' +
      '`=value`, the claim must be `true`. Example: `groups=chat-users`.',
    unset: 'everyone whom the issuer signs in',
  }),
  OIDC_TIER_CLAIM: claimName.optional().meta({
    description:
      'The claim that names the tier of the account. It is applied at each sign-in by single sign-on. A list may contain other names. ' +
      'An account without a known tier in the claim gets the default tier.',
    unset: 'sign-ins do not change the tier',
  }),
  OIDC_OPERATOR_CLAIM: claimCondition.optional().meta({
    description:
      'The claim that makes an account an operator, in the form of `OIDC_REQUIRED_CLAIM`. It is applied at each sign-in by single ' +
      'sign-on: without the claim, the account loses the role.',
    unset: 'sign-ins do not change the role',
  }),
  OIDC_LOGOUT_REVOKES_KEYS: onOrOff.default('off').meta({
    description: '`on`: a back-channel logout of the issuer also revokes all API keys of the account.',
  }),
} as const;

type SingleSignOnVariables = z.infer<z.ZodObject<typeof SINGLE_SIGN_ON_VARIABLES>>;

/** Whether all variables are set that `OIDC_ISSUER` needs. */
export function hasWholeIssuer(variables: Partial<SingleSignOnVariables>): boolean {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, PUBLIC_URL } = variables;
  return (
    OIDC_ISSUER === undefined ||
    [OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, PUBLIC_URL].every((variable) => variable !== undefined)
  );
}

/** Returns the configuration of single sign-on, or `undefined` without an issuer. */
export function singleSignOnOf(variables: SingleSignOnVariables): SingleSignOnConfig | undefined {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, PUBLIC_URL } = variables;
  if (
    OIDC_ISSUER === undefined ||
    OIDC_CLIENT_ID === undefined ||
    OIDC_CLIENT_SECRET === undefined ||
    PUBLIC_URL === undefined
  ) {
    return undefined;
  }
  return {
    issuer: OIDC_ISSUER,
    clientId: OIDC_CLIENT_ID,
    clientSecret: OIDC_CLIENT_SECRET,
    publicUrl: PUBLIC_URL,
    scopes: variables.OIDC_SCOPES,
    requiredClaim: variables.OIDC_REQUIRED_CLAIM,
    tierClaim: variables.OIDC_TIER_CLAIM,
    operatorClaim: variables.OIDC_OPERATOR_CLAIM,
    logoutRevokesKeys: variables.OIDC_LOGOUT_REVOKES_KEYS === 'on',
  };
}
