-- News for the emails about shipments. Rows are written in the transaction of the action; any process of the site sends them.
create table public.notices (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references auth.users (id) on delete cascade,
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  kind text not null check (kind in ('stage', 'sent back', 'note', 'charge', 'storage')),
  -- The status, the document, the item charged, or the last free day.
  what text not null,
  reason text,
  made_at timestamptz not null default now(),
  -- Actions on one shipment within ten minutes become one email.
  due_at timestamptz not null default now() + interval '10 minutes',
  claimed_at timestamptz,
  attempts integer not null default 0,
  sent_at timestamptz,
  failed_at timestamptz
);
alter table public.notices enable row level security;

create index notices_due on public.notices (due_at, shipment_id) where sent_at is null and failed_at is null;
create index notices_of_shipment on public.notices (shipment_id) where sent_at is null and failed_at is null;
create unique index notices_of_storage on public.notices (shipment_id, what) where kind = 'storage';
create index notices_past on public.notices (made_at);

-- Accounts that turned shipment emails off.
create table private.notice_refusals (
  account uuid primary key references auth.users (id) on delete cascade,
  at timestamptz not null default now()
);
alter table private.notice_refusals enable row level security;

-- Writes a notice to the owner of a shipment who wants them and whose account is open.
create function private.tell_client(shipment_id uuid, kind text, what text, reason text default null) returns void
language sql volatile
set search_path = ''
as $$
  insert into public.notices (account, shipment_id, kind, what, reason)
  select shipment.user_id, shipment.id, tell_client.kind, tell_client.what, tell_client.reason
  from public.shipments as shipment
  join auth.users as account on account.id = shipment.user_id
  where shipment.id = tell_client.shipment_id
    and coalesce(account.banned_until < now(), true)
    and not exists (select from private.notice_refusals as refusal where refusal.account = shipment.user_id)
  on conflict do nothing
$$;

-- What an act means for its client, in the transaction of the act, whoever did it: desk or command.
create function private.tell_of_act() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  case new.act
    when 'shipment advance', 'shipment correct' then
      perform private.tell_client(new.shipment, 'stage', private.stage_name((new.after ->> 'stage')::smallint));
    when 'shipment note' then
      perform private.tell_client(new.shipment, 'note', 'note');
    when 'document send-back' then
      perform private.tell_client(
        new.shipment, 'sent back', (select name from public.documents where id = new.document), new.reason
      );
    when 'charge set' then
      perform private.tell_client(new.shipment, 'charge', new.after ->> 'item');
    else null;
  end case;
  return null;
end
$$;

-- Claims what is due for so many shipments, for whoever calls alone: of two processes each gets other ones. A claim is nothing
-- after five minutes: whoever had it is gone. Returns [{"ids", "account", "email", "shipment", "name", "stage", "status",
-- "turn", "happened": [{"kind", "what", "reason"}], oldest first}]. Also deletes notices of a month ago.
-- (later) As before, without what no longer holds when it is sent.
create function public.claim_notices(most integer default 50) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  today date := (now() at time zone 'Africa/Nairobi')::date;
  ripe uuid[];
  has_dropped boolean;
  claimed jsonb;
begin
  -- One at a time, so that what happened to a shipment stays together.
  perform pg_advisory_xact_lock(hashtextextended('claim_notices', 0));
  delete from public.notices as notice using auth.users as account
  where account.id = notice.account and account.banned_until > now() and notice.sent_at is null and notice.failed_at is null;
  delete from public.notices where made_at < now() - interval '30 days';
  -- Free storage that ends in two days: told once for each last day.
  perform private.tell_client(shipment.id, 'storage', shipment.free_until::text)
  from public.shipments as shipment
  where shipment.free_until between today and today + 2 and shipment.stage < 9
    and not exists (
      select from public.notices as told
      where told.shipment_id = shipment.id and told.kind = 'storage' and told.what = shipment.free_until::text
    );
  loop
    select array_agg(distinct ready.shipment_id) into ripe
    from (
      select notice.shipment_id from public.notices as notice
      where notice.sent_at is null and notice.failed_at is null and notice.due_at <= now()
        and (notice.claimed_at is null or notice.claimed_at < now() - interval '5 minutes')
      order by notice.due_at, notice.shipment_id
      limit most
    ) as ready;
    delete from public.notices as notice
    where notice.id in (
      select waiting.id from public.notices as waiting
      where waiting.shipment_id = any (ripe) and waiting.sent_at is null and waiting.failed_at is null
        and (waiting.claimed_at is null or waiting.claimed_at < now() - interval '5 minutes')
        and private.is_past(waiting)
      for update skip locked
    );
    -- Where all of them were past, there may be others.
    has_dropped := found;
    with mine as (
      update public.notices as notice set claimed_at = now(), attempts = notice.attempts + 1
      where notice.id in (
        select waiting.id from public.notices as waiting
        where waiting.shipment_id = any (ripe)
          and waiting.sent_at is null and waiting.failed_at is null
          and (waiting.claimed_at is null or waiting.claimed_at < now() - interval '5 minutes')
        for update skip locked
      )
      returning notice.*
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'ids', told.ids, 'account', shipment.user_id, 'email', account.email, 'shipment', shipment.id, 'name', shipment.name,
      'stage', shipment.stage, 'status', shipment.status, 'turn', shipment.turn, 'happened', told.happened
    )), '[]'::jsonb)
    into claimed
    from (
      select mine.shipment_id, jsonb_agg(mine.id) as ids, jsonb_agg(jsonb_build_object(
        'kind', mine.kind, 'what', mine.what, 'reason', mine.reason
      ) order by mine.made_at, mine.id) as happened
      from mine group by mine.shipment_id
    ) as told
    join public.shipments as shipment on shipment.id = told.shipment_id
    join auth.users as account on account.id = shipment.user_id;
    exit when claimed <> '[]'::jsonb or not has_dropped;
  end loop;
  return claimed;
end
$$;
grant execute on function public.claim_notices(integer) to service_role;

-- Says what became of claimed notices. What could not be sent is tried again, later each time, for a day; then it is on the
-- desk's list of what was not delivered.
create function public.settle_notices(ids uuid[], sent boolean) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  lost record;
begin
  if sent then
    update public.notices set sent_at = now(), claimed_at = null where id = any (settle_notices.ids) and sent_at is null;
    return;
  end if;
  update public.notices
  set claimed_at = null, due_at = now() + least(interval '1 minute' * power(2, least(attempts, 6)), interval '1 hour'),
    failed_at = case when made_at < now() - interval '1 day' then now() end
  where id = any (settle_notices.ids) and sent_at is null and failed_at is null;
  for lost in
    select distinct notice.account, account.email
    from public.notices as notice
    join auth.users as account on account.id = notice.account
    where notice.id = any (settle_notices.ids) and notice.failed_at = now()
  loop
    insert into public.undelivered_mails (kind, sent_to, account) values ('notice', lost.email, lost.account);
  end loop;
end
$$;
grant execute on function public.settle_notices(uuid[], boolean) to service_role;

-- Whether an account wants notices; what waits for one that wants none is dropped.
create function public.want_notices(account uuid, wanted boolean) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
begin
  if wanted then
    delete from private.notice_refusals where notice_refusals.account = want_notices.account;
    return;
  end if;
  insert into private.notice_refusals (account)
  select users.id from auth.users where users.id = want_notices.account
  on conflict do nothing;
  delete from public.notices where notices.account = want_notices.account and sent_at is null;
end
$$;
grant execute on function public.want_notices(uuid, boolean) to service_role;

create trigger tell_of_act
after insert on public.acts
for each row
-- Not what is only written down: the demo's acts of last week.
when (new.at >= now() and new.shipment is not null)
execute function private.tell_of_act();
