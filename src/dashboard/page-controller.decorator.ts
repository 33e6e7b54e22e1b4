import { applyDecorators } from '@nestjs/common';
import { ApiExcludeController } from '../http/open-api/api-decorators.js';
import { OutsideApi } from '../http/routing/outside-api.decorator.js';

/**
 * Marks a controller that serves pages. Its routes are outside the API and are not part of the OpenAPI document. Each route
 * is `@SessionOnly()` or `@Public()`, and answers with `Pages.send`. Add each page controller to `DashboardModule`.
 */
export const PageController = (path = ''): ClassDecorator => applyDecorators(OutsideApi(path), ApiExcludeController());
