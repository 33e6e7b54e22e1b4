import type { Request } from 'express';
import passport from 'passport';

type Verified = (error: unknown, user?: object | false | null) => void;

/** A passport strategy for a token in the header `X-Api-Token`. Of the kind that packages bring, too. */
export class HeaderTokenStrategy extends passport.Strategy {
  constructor(private readonly verify: (token: string, verified: Verified) => void) {
    super();
  }

  override authenticate(request: Request): void {
    const token = request.headers['x-api-token'];
    if (typeof token !== 'string') {
      this.fail();
      return;
    }
    this.verify(token, (error, user) => {
      if (error) this.error(error);
      else if (user) this.success(user);
      else this.fail();
    });
  }
}
