import { SetMetadata, type CustomDecorator } from '@nestjs/common';

export const IS_PUBLIC = Symbol('IS_PUBLIC');

/**
 * Opens a route, or all routes of a controller, to everyone. Routes without this decorator need a credential.
 *
 * @since 1.0
 */
export const Public = (): CustomDecorator<symbol> => SetMetadata(IS_PUBLIC, true);
