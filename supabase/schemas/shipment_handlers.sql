-- The team member who handles a shipment. A shipment without a row has no handler. The table is private, because clients
-- must not learn who handles their shipments.
create table private.shipment_handlers (
  shipment_id uuid primary key references public.shipments (id) on delete cascade,
  account_id uuid not null references public.staff_members (account_id) on delete cascade
);
alter table private.shipment_handlers enable row level security;
create index shipment_handlers_by_account on private.shipment_handlers (account_id);

-- Returns {"id", "name"} of the team member who handles a shipment, or null.
create function private.shipment_handler(shipment_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('id', member.account_id, 'name', member.name)
  from private.shipment_handlers as handled
  join public.staff_members as member on member.account_id = handled.account_id
  where handled.shipment_id = shipment_handler.shipment_id
$$;

-- Returns an SQL condition. `handler` is 'mine' for the caller's shipments, 'nobody' for shipments without a handler, or
-- null for all shipments. `id_column` is the column with the shipment's ID.
create function private.handler_condition(handler text, id_column text) returns text
language sql stable set search_path = '' as $$
  select case handler
    when 'mine' then format(
      '%s in (select handled.shipment_id from private.shipment_handlers as handled where handled.account_id = %L)',
      id_column, auth.uid()
    )
    when 'nobody' then format(
      'not exists (select from private.shipment_handlers as handled where handled.shipment_id = %s)', id_column
    )
    else 'true'
  end
$$;

-- Hands a shipment over and returns the name of the new handler, or null. `handler` and `expected_handler` are the
-- account ID or the email address of a team member, or 'nobody'. The note is for the team only.
create function public.change_shipment_handler(
  shipment_id uuid, handler text, note text default null, expected_handler text default null,
  idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('hand over', shipment_id, handler, note));
  shipment public.shipments;
  old_handler jsonb;
  new_handler public.staff_members;
begin
  if private.is_repeated_action(key) then
    return private.shipment_handler(change_shipment_handler.shipment_id) ->> 'name';
  end if;
  perform private.reject_if(
    expected_handler is null and current_setting('role', true) <> 'service_role', 400,
    'We received only part of the form. Reload the page, then try again.'
  );
  shipment := private.lock_shipment(change_shipment_handler.shipment_id);
  old_handler := private.shipment_handler(shipment.id);
  perform private.reject_if(
    expected_handler <> coalesce(old_handler ->> 'id', 'nobody'), 409,
    'Someone has handed over this shipment. Check who handles the shipment, then try again.'
  );
  if handler is distinct from 'nobody' then
    -- The lock prevents the removal of the team member before this transaction ends.
    select member.* into new_handler
    from public.staff_members as member
    join auth.users as account on account.id = member.account_id
    where member.removed_at is null and lower(btrim(handler)) in (member.account_id::text, account.email)
    for share of member;
    perform private.reject_if(not found, 404, 'Team member not found.');
  end if;
  perform private.reject_if(
    new_handler.account_id is not distinct from (old_handler ->> 'id')::uuid, 409,
    case when old_handler is null then 'Nobody handles this shipment already.'
      else 'This team member already handles the shipment.' end
  );
  delete from private.shipment_handlers where shipment_handlers.shipment_id = shipment.id;
  if new_handler.account_id is not null then
    insert into private.shipment_handlers (shipment_id, account_id) values (shipment.id, new_handler.account_id);
  end if;
  perform private.insert_audit_entry(
    actor, 'shipment hand-over', shipment_id => shipment.id, idempotency_key => key, reason => nullif(btrim(note), ''),
    before => jsonb_build_object('handler', coalesce(old_handler ->> 'name', 'nobody')),
    after => jsonb_build_object('handler', coalesce(new_handler.name, 'nobody'))
  );
  return new_handler.name;
end
$$;

grant execute on function public.change_shipment_handler to authenticated, service_role;
