import { SetMetadata, type CustomDecorator } from '@nestjs/common';

export const IS_PUBLIC = Symbol('IS_PUBLIC');

/** Opens a route, or all of a controller, to everybody. What has no such mark needs a credential. */
export const Public = (): CustomDecorator<symbol> => SetMetadata(IS_PUBLIC, true);
