import { Global } from '@nestjs/common';
import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import { SingleSignOn } from '../../plugin-api/single-sign-on.js';
import { BackChannelLogout } from './back-channel-logout.js';
import { Issuer } from './issuer.js';
import { LinkedAccounts } from './linked-accounts.js';
import { OpenIdSignOn } from './open-id-sign-on.js';
import { SignInStates } from './sign-in-state.js';

/** Signs people in by an issuer of OpenID Connect. The pages of it are in the dashboard. */
@Global()
@ChatPlugin({
  name: 'single-sign-on',
  compatibility: '^1',
  providers: [
    Issuer,
    SignInStates,
    LinkedAccounts,
    BackChannelLogout,
    { provide: SingleSignOn, useClass: OpenIdSignOn },
  ],
  exports: [SingleSignOn],
})
export class SingleSignOnPlugin {}
