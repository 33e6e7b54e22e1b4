import { applyDecorators } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { OutsideApi } from '../http/routing/outside-api.decorator.js';

/**
 * A controller of pages: outside the API and its description. Its routes are `@SessionOnly()` or `@Public()`, and answer with
 * `Pages.send`. It is one more entry in the list of the dashboard's module.
 */
export const PageController = (path = ''): ClassDecorator => applyDecorators(OutsideApi(path), ApiExcludeController());
