import { type Effects } from './effect.js';
const WHOLE = 'needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and PUBLIC_URL';
const ADDRESS = 'must be https://…, or http://… with a host name of this machine';
const ON_OR_OFF = 'must be on or off';

/** Single sign-on. */
export const singleSignOn: Effects = {
  PUBLIC_URL: {
    refused: [
      ['chat.example.com', `PUBLIC_URL: ${ADDRESS}`],
      ['http://chat.example.com', `PUBLIC_URL: ${ADDRESS}`],
      [
        'https://chat.example.com/app',
        'PUBLIC_URL: must be an origin without a path, such as https://chat.example.com',
      ],
    ],
  },
  OIDC_ISSUER: {
    refused: [
      ['https://login.example.com', `OIDC_ISSUER: ${WHOLE}`],
      ['http://login.example.com', `OIDC_ISSUER: ${ADDRESS}`],
      ['https://login.example.com/?a=b', `OIDC_ISSUER: ${ADDRESS}`],
      [
        'https://login.example.com/.well-known/openid-configuration',
        'OIDC_ISSUER: must be the issuer, without /.well-known/openid-configuration',
      ],
    ],
  },
  OIDC_CLIENT_ID: {
    refused: [],
  },
  OIDC_CLIENT_SECRET: {
    refused: [],
  },
  OIDC_SCOPES: {
    refused: [
      ['profile email', 'OIDC_SCOPES: must contain openid'],
      ['openid,email', 'OIDC_SCOPES: must contain openid'],
      ['openid  email', 'OIDC_SCOPES: must be a list of scopes, separated by one space'],
    ],
  },
  OIDC_REQUIRED_CLAIM: {
    refused: [['=c', 'OIDC_REQUIRED_CLAIM: must be the name of a claim, or claim=value']],
  },
  OIDC_TIER_CLAIM: {
    refused: [['tier=pro', 'OIDC_TIER_CLAIM: must be the name of a claim']],
  },
  OIDC_OPERATOR_CLAIM: {
    refused: [['a claim', 'OIDC_OPERATOR_CLAIM: must be the name of a claim, or claim=value']],
  },
  OIDC_LOGOUT_REVOKES_KEYS: {
    refused: [['true', `OIDC_LOGOUT_REVOKES_KEYS: ${ON_OR_OFF}`]],
  },
  PASSWORDS: {
    refused: [
      ['off', 'PASSWORDS: must be on without OIDC_ISSUER and the plugin single-sign-on, because nobody could sign in'],
      ['no', `PASSWORDS: ${ON_OR_OFF}`],
    ],
  },
};
