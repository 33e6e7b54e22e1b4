import { IsInt, Max } from 'class-validator';
import { expect, it } from 'vitest';
import { RequestValidationPipe } from '../../../../../src/platform/http/request/request-validation.pipe.js';

class Order {
  @IsInt()
  @Max(5)
  count!: number;
}

const pipe = new RequestValidationPipe();
const check = (value: unknown) => pipe.transform(value, { type: 'body', metatype: Order });

it('a body that was validated is the same object, and is not validated again', async () => {
  const order = (await check({ count: 5 })) as Order;
  expect(order).toBeInstanceOf(Order);
  order.count = 6;
  expect(await check(order)).toBe(order);
});

it.each(['prototype', 'constructor', '__proto__', 'other'])(
  'a body with the unknown member %s is invalid',
  async (name) => {
    const body: unknown = JSON.parse(`{"count":1,"${name}":2}`);
    await expect(check(body)).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ field: name, message: 'is not a known member' }],
    });
  },
);

it('an object of the class that was not validated is validated', async () => {
  await expect(pipe.validated(Object.assign(new Order(), { count: 6 }), Order)).rejects.toMatchObject({
    code: 'invalid_request',
  });
});
