import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ModelsModule } from '../models/models.module.js';
import { UsageReportsModule } from '../usage/usage-reports.module.js';
import { AssetsController } from './assets/assets.controller.js';
import { HomeController } from './home.controller.js';
import { Pages } from './pages.js';
import { PlaygroundController } from './playground/playground.controller.js';
import { UsagePageController } from './usage/usage-page.controller.js';

/** The web application: pages that this process renders, and their files. */
@Module({
  imports: [AccountsModule, ModelsModule, UsageReportsModule],
  controllers: [HomeController, AssetsController, PlaygroundController, UsagePageController],
  providers: [Pages],
  exports: [Pages],
})
export class DashboardModule {}
