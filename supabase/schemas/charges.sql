-- app/models/shipment.ts has the same list of payment items.
create table public.charges (
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  item text not null check (item in ('idf-fee', 'duties', 'agent-fee')),
  -- The upper limit also rejects NaN, which Postgres treats as greater than every number.
  amount numeric(14, 2) not null check (amount > 0) check (amount < 1000000000000),
  currency text not null check (currency in ('KES', 'USD', 'EUR', 'GBP')),
  due_on date check (due_on between '2000-01-01' and '2100-01-01'),
  note text check (char_length(note) between 1 and 300) check (private.is_one_line(note)),
  paid_at timestamptz,
  version integer not null default 0,
  primary key (shipment_id, item)
);
alter table public.charges enable row level security;
grant select on table public.charges to authenticated, service_role;

create function private.charges_json(shipment_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(charge order by charge.item), '[]'::jsonb)
  from (
    select item, amount, currency, due_on, note, paid_at, version
    from public.charges where charges.shipment_id = charges_json.shipment_id
  ) as charge
$$;

-- Returns the unpaid amounts of a shipment as [{"item", "currency", "amount"}], or null if nothing is due.
create function private.amounts_due(shipment_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_agg(jsonb_build_object('item', charge.item, 'currency', charge.currency, 'amount', charge.amount) order by charge.item)
  from public.charges as charge where charge.shipment_id = amounts_due.shipment_id and charge.paid_at is null
$$;

-- Creates or changes a charge. For a new charge, `expected_version` is -1.
create function public.set_charge(
  shipment_id uuid, item text, amount numeric, currency text, due_on date default null, note text default null,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(
    idempotency_key, jsonb_build_array('charge', shipment_id, item, amount, currency, due_on, note)
  );
  shipment public.shipments;
  charge public.charges;
  saved public.charges;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(set_charge.shipment_id);
  select * into charge from public.charges
  where charges.shipment_id = shipment.id and charges.item = set_charge.item;
  perform private.check_version(expected_version, coalesce(charge.version, -1), 'charge');
  if charge.paid_at is not null and (charge.amount, charge.currency) <> (set_charge.amount, set_charge.currency) then
    raise sqlstate 'PT409' using message = 'This charge is paid. Mark the charge as unpaid first.';
  end if;
  insert into public.charges (shipment_id, item, amount, currency, due_on, note)
  values (
    shipment.id, set_charge.item, set_charge.amount, set_charge.currency, set_charge.due_on,
    nullif(btrim(set_charge.note), '')
  )
  on conflict on constraint charges_pkey do update
  set amount = excluded.amount, currency = excluded.currency, due_on = excluded.due_on, note = excluded.note
  returning * into saved;
  update public.shipments set staff_action_at = now() where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'charge save', shipment_id => shipment.id, idempotency_key => key,
    before => case when charge.item is not null then jsonb_build_object(
      'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on
    ) end,
    after => jsonb_build_object(
      'item', item, 'amount', set_charge.amount, 'currency', set_charge.currency, 'due_on', set_charge.due_on
    )
  );
  -- The trigger queue_action_email could not see a changed note, because the audit log contains no notes of charges.
  if (saved.amount, saved.currency, saved.due_on, saved.note)
    is distinct from (charge.amount, charge.currency, charge.due_on, charge.note)
  then
    perform private.queue_shipment_email(shipment.id, 'charge', saved.item);
  end if;
end
$$;

-- Marks a charge as paid or unpaid. Marking a charge as unpaid needs a reason.
create function public.set_charge_paid(
  shipment_id uuid, item text, paid boolean, reason text default null, expected_version integer default null,
  idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := case when paid then null else private.require_reason(reason) end;
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('paid', shipment_id, item, paid, reason));
  shipment public.shipments;
  charge public.charges;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(set_charge_paid.shipment_id);
  select * into charge from public.charges
  where charges.shipment_id = shipment.id and charges.item = set_charge_paid.item;
  perform private.reject_if(not found, 404, 'There is no charge for this payment item yet. Add the charge first.');
  perform private.check_version(expected_version, charge.version, 'charge');
  perform private.reject_if(
    (charge.paid_at is not null) = paid, 409,
    case when paid then 'This charge is already marked as paid.' else 'This charge is already marked as unpaid.' end
  );
  update public.charges set paid_at = case when paid then now() end
  where charges.shipment_id = shipment.id and charges.item = set_charge_paid.item;
  update public.shipments set staff_action_at = now() where id = shipment.id;
  perform private.insert_audit_entry(
    actor, case when paid then 'charge paid' else 'charge unpaid' end,
    shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason,
    before => jsonb_build_object('item', item, 'paid', not paid), after => jsonb_build_object('item', item, 'paid', paid)
  );
end
$$;

create policy "the session is active and has AAL2 if a second factor exists" on public.charges
as restrictive for all to authenticated using ((select private.has_valid_session()));

create policy "clients read the charges of their own shipments" on public.charges
for select to authenticated
using (exists (
  select 1 from public.shipments
  where shipments.id = charges.shipment_id and shipments.user_id = (select auth.uid())
));

create policy "staff read all charges" on public.charges
for select to authenticated using ((select private.is_staff()));

grant execute on function private.charges_json to authenticated;
grant execute on function public.set_charge, public.set_charge_paid to authenticated, service_role;
