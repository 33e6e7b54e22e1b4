import { SetMetadata, type CustomDecorator } from '@nestjs/common';

export const LIMITED_BY_TIER = Symbol('LIMITED_BY_TIER');

/** A request to this route, or to all of a controller, counts against the limits of the account's tier. */
export const LimitedByTier = (): CustomDecorator<symbol> => SetMetadata(LIMITED_BY_TIER, true);
