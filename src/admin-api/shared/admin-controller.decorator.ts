import { applyDecorators, Controller } from '@nestjs/common';
import { OperatorApi } from '../../auth/operators/operator-api.decorator.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';

/** A controller of the API for operators. All its requests count against the budget of their operator key. */
export const AdminController = (path: string): ClassDecorator =>
  applyDecorators(Controller(path), OperatorApi(), LimitedByBudget('operator_api'));
